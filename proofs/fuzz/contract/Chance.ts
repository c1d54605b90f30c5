import { Arbitrary, Schema } from "effect"

export const between = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const index = (length: number) => between(0, length - 1)

export const oneOf = <A>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(index(values.length), (at) => values[at] as A)

export const matching = (pattern: RegExp) =>
  Arbitrary.schema(Schema.String.check(Schema.isPattern(pattern)))
