import { Schema, SchemaAST } from "effect"
import { subschemas } from "./subschemas.ts"

/** Returns the bodies' named schemas, by name. */
export const namedSchemas = (
  bodies: ReadonlyArray<Schema.Constraint>
): ReadonlyMap<string, Schema.Codec<unknown>> => {
  const named = new Map<string, Schema.Codec<unknown>>()
  for (const part of bodies.flatMap(({ ast }) => subschemas(ast))) {
    const name = SchemaAST.resolveIdentifier(part)
    if (name !== undefined && !named.has(name)) named.set(name, Schema.make(part))
  }
  return named
}

/**
 * Returns a schema's description and examples. Annotations are attached to the schema's last check,
 * and Effect omits them from the document if that check has no JSON Schema. Rules that involve
 * several fields usually have none.
 */
export const descriptionAndExamples = (schema: Schema.Codec<unknown>) => {
  const { description, examples } = SchemaAST.resolve(schema.ast) ?? {}
  const encode = Schema.encodeUnknownSync(schema)
  return {
    ...(typeof description === "string" && { description }),
    ...(Array.isArray(examples) && {
      examples: examples.map((example: unknown) => encode(example))
    })
  }
}
