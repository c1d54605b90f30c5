import { Arbitrary, Schema } from "effect"

export const integerBetween = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const indexBelow = (length: number) => integerBetween(0, length - 1)

export const oneOf = <A>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(indexBelow(values.length), (at) => values[at] as A)

export const stringMatching = (pattern: RegExp) =>
  Arbitrary.schema(Schema.String.check(Schema.isPattern(pattern)))
