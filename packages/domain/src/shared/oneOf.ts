import { Schema } from "effect"

interface Named {
  readonly identifier: string
  readonly description: string
  readonly examples?: ReadonlyArray<string>
}

/** Creates a named schema of string literals. */
export const oneOf = <const Literals extends ReadonlyArray<string>>(
  literals: Literals,
  { examples, ...named }: Named
) =>
  Schema.Literals(literals).annotate({
    ...named,
    ...(examples === undefined ? {} : { examples: examples as ReadonlyArray<Literals[number]> })
  })
