import type { JsonSchema } from "effect"
import { isSchema, referencedName } from "./rewriting.ts"

type Schema = JsonSchema.JsonSchema

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T09:30:00.000Z",
  email: "ada@example.com",
  uri: "https://api.example.com/jobs/nightly",
  uuid: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
}

/**
 * Builds an example for a schema from the examples of its parts. A schema's own example takes
 * precedence, because only it satisfies rules between fields.
 */
export const exampleOf = (
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  within: ReadonlyArray<string> = []
): unknown => {
  const part = (inner: unknown) => (isSchema(inner) ? exampleOf(inner, schemas, within) : null)
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  const component = referencedName(schema)
  if (component !== undefined) {
    return within.includes(component)
      ? null
      : exampleOf(schemas[component] ?? {}, schemas, [...within, component])
  }
  if (Array.isArray(schema.enum)) return schema.enum[0]
  for (const union of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(union)) return part(union[0])
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(
          ([name, property]) => [name, part(property)]
        )
      )
    case "array":
      return isSchema(schema.items) ? [part(schema.items)] : []
    case "boolean":
      return true
    case "integer":
    case "number":
      return schema.minimum ?? 1
    case "string":
      return formats[String(schema.format)] ?? "string"
    default:
      return null
  }
}

/**
 * Gives a component without an example the value that it has in another component's example, which
 * is better than a value built from its fields.
 */
export const withExamplesFromUses = (
  schemas: Readonly<Record<string, Schema>>
): Readonly<Record<string, Schema>> => {
  const shown = new Map<string, unknown>()
  const visit = (schema: unknown, value: unknown): void => {
    if (!isSchema(schema) || value === null || value === undefined) return
    const name = referencedName(schema)
    if (name !== undefined) {
      if (!shown.has(name)) shown.set(name, value)
      visit(schemas[name], value)
    }
    if (Array.isArray(schema.anyOf)) {
      const [some, ...others] = schema.anyOf.filter((one) => !isSchema(one) || one.type !== "null")
      if (others.length === 0) visit(some, value)
    }
    if (Array.isArray(value)) value.forEach((item) => visit(schema.items, item))
    if (isSchema(value) && isSchema(schema.properties)) {
      for (const [field, property] of Object.entries(schema.properties))
        visit(property, value[field])
    }
  }
  for (const schema of Object.values(schemas)) {
    if (Array.isArray(schema.examples)) visit(schema, schema.examples[0])
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      schema.examples === undefined && shown.has(name)
        ? { ...schema, examples: [shown.get(name)] }
        : schema
    ])
  )
}
