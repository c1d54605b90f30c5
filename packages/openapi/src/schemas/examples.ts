import type { JsonSchema } from "effect"
import { isSchema, referenced } from "./rewriting.ts"

type Schema = JsonSchema.JsonSchema

/** Examples for fields whose schemas have none of their own. */
const samples: Readonly<Record<string, unknown>> = {
  call_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  ip: "203.0.113.7",
  limit: 100,
  message_secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
  name: "Ada Lovelace",
  origin: "https://api.example.com",
  plan: "self_hosted",
  quota: "active_api_keys",
  request_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
  resource: "workspace",
  retry_after: 1,
  secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
  target_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
  user_agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T09:30:00.000Z",
  email: "ada@example.com",
  uri: "https://api.example.com/jobs/nightly",
  uuid: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
}

/**
 * Builds an example for a schema from the examples of its parts. A schema's own example wins,
 * because only that one respects rules between fields.
 */
export const exampleOf = (
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  field?: string,
  within: ReadonlyArray<string> = []
): unknown => {
  const part = (inner: unknown, name?: string) =>
    isSchema(inner) ? exampleOf(inner, schemas, name ?? field, within) : null
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  const component = referenced(schema)
  if (component !== undefined) {
    return within.includes(component)
      ? null
      : exampleOf(schemas[component] ?? {}, schemas, field, [...within, component])
  }
  const sample = field === undefined ? undefined : samples[field]
  if (Array.isArray(schema.enum)) return schema.enum.includes(sample) ? sample : schema.enum[0]
  for (const union of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(union)) return part(union[0])
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(
          ([name, property]) => [name, part(property, name)]
        )
      )
    case "array":
      return isSchema(schema.items) ? [part(schema.items)] : []
    case "boolean":
      return true
    case "integer":
    case "number":
      return typeof sample === "number" ? sample : (schema.minimum ?? 1)
    case "string":
      if (typeof schema.format === "string" && formats[schema.format] !== undefined) {
        return formats[schema.format]
      }
      return typeof sample === "string" ? sample : "string"
    default:
      return null
  }
}

/**
 * Gives a component without an example the one that it has inside another component's example. An
 * attempt in an execution's example is better than one built from its fields.
 */
export const withShownExamples = (
  schemas: Readonly<Record<string, Schema>>
): Readonly<Record<string, Schema>> => {
  const shown = new Map<string, unknown>()
  const visit = (schema: unknown, value: unknown): void => {
    if (!isSchema(schema) || value === null || value === undefined) return
    const name = referenced(schema)
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
