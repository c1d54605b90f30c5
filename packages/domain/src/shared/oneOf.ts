import { Schema } from "effect"

interface Named {
  readonly identifier: string
  readonly description: string
  readonly examples?: ReadonlyArray<string>
}

/** Literals with a name in the reference. */
export const oneOf = <const Literals extends ReadonlyArray<string>>(
  literals: Literals,
  { examples, ...named }: Named
) =>
  Schema.Literals(literals).annotate({
    ...named,
    ...(examples === undefined ? {} : { examples: examples as ReadonlyArray<Literals[number]> })
  })
