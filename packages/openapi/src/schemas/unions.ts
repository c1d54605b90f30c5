import type { JsonSchema } from "effect"
import { isSchema, mapSchema, reference, referencedName } from "./rewriting.ts"

type Schema = JsonSchema.JsonSchema
type Schemas = Readonly<Record<string, Schema>>

const propertiesOf = ({ properties }: Schema): Readonly<Record<string, unknown>> =>
  isSchema(properties) ? properties : {}

/**
 * Creates a component for each choice that has a title. Each component also gets the fields that
 * all choices share.
 */
export const withNamedChoices = (schemas: Schemas): Schemas => {
  const named: Record<string, Schema> = {}
  for (const [name, schema] of Object.entries(schemas)) {
    const { anyOf, description, examples, ...common } = schema
    if (!Array.isArray(anyOf) || !anyOf.every(hasTitle)) {
      named[name] = schema
      continue
    }
    named[name] = {
      ...(description !== undefined && { description }),
      anyOf: anyOf.map(({ title }) => reference(title)),
      ...(examples !== undefined && { examples })
    }
    for (const { title, ...choice } of anyOf) {
      named[title] = {
        ...common,
        ...choice,
        properties: { ...propertiesOf(common), ...propertiesOf(choice) },
        required: [...new Set([...requiredOf(common), ...requiredOf(choice)])]
      }
    }
  }
  return named
}

const requiredOf = ({ required }: Schema): ReadonlyArray<unknown> =>
  Array.isArray(required) ? required : []

const hasTitle = (schema: unknown): schema is Schema & { readonly title: string } =>
  isSchema(schema) && typeof schema.title === "string"

/** Adds a discriminator to each union whose members can be distinguished by a field. */
export const withDiscriminators = (schemas: Schemas): Schemas =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      mapSchema(schema, (part) => discriminated(part, schemas))
    ])
  )

const discriminated = (schema: Schema, schemas: Schemas): Schema => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length < 2) return schema
  const members = anyOf.map((one) => (isSchema(one) ? referencedName(one) : undefined))
  const [first = ""] = members
  const mapping = Object.keys(propertiesOf(schemas[first] ?? {}))
    .map((field) => ({ field, values: members.map((member) => valuesOf(field, member, schemas)) }))
    .find(({ values }) => areDistinct(values))
  if (mapping === undefined) return schema
  return {
    ...rest,
    oneOf: anyOf,
    discriminator: {
      propertyName: mapping.field,
      mapping: Object.fromEntries(
        mapping.values.flatMap((values, index) =>
          values.map((value) => [value, reference(members[index] ?? "").$ref])
        )
      )
    }
  }
}

/**
 * Returns the possible values of a required field of a component, or none if the field is not an
 * enum.
 */
const valuesOf = (
  field: string,
  component: string | undefined,
  schemas: Schemas
): ReadonlyArray<string> => {
  const schema = schemas[component ?? ""] ?? {}
  const property = propertiesOf(schema)[field]
  return requiredOf(schema).includes(field) && isSchema(property) && Array.isArray(property.enum)
    ? property.enum.filter((value) => typeof value === "string")
    : []
}

const areDistinct = (lists: ReadonlyArray<ReadonlyArray<string>>): boolean => {
  const all = lists.flat()
  return lists.every((values) => values.length > 0) && new Set(all).size === all.length
}
