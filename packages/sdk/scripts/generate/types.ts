import { errorComponentName } from "@scheduling/openapi/responses/declaredErrors"
import { referencedName } from "@scheduling/openapi/schemas/rewriting"
import { type Contract, isRecord, pageQuery, type Query, type Schema } from "./contract.ts"
import { describeLimits } from "./limits.ts"
import { docComment } from "./text.ts"

/** Renders the input and output types, by their names in the OpenAPI document. */
export const renderTypes = ({
  brands,
  errors,
  queries,
  schemas
}: Contract): Readonly<Record<string, string>> => {
  const kinds = [...new Set(brands.values())].toSorted()
  // Errors of responses are classes. Other schemas named errors are parts of responses.
  const classes = new Set(errors.map(errorComponentName))
  const named = Object.entries(schemas).filter(
    ([name, schema]) => !classes.has(name) && !isPage(schema)
  )
  return Object.fromEntries([
    ...kinds.map((kind) => [kind, `export type ${kind} = Id<"${kind}">`]),
    [
      "Timestamp",
      `/** A moment: ISO 8601 in UTC, such as \`2026-01-31T09:30:00.000Z\`. */\nexport type Timestamp = string`
    ],
    ...named.map(([name, schema]) => [name, renderNamed(name, schema, brands)]),
    ...queries.map((query) => [query.type, renderQuery(query, brands)])
  ])
}

/** True for pages, which are rendered as `Page` of their items. */
const isPage = ({ properties }: Schema) => isRecord(properties) && "next_cursor" in properties

const renderNamed = (name: string, schema: Schema, brands: Contract["brands"]): string => {
  const doc = docComment(described(schema))
  // Only request bodies are closed. Responses may gain fields.
  const where = { owner: name, brands, isInput: schema.additionalProperties === false }
  const fields = isRecord(schema.properties) ? renderFields(schema, where) : undefined
  const choice = requiredChoice(schema)
  const alternatives = alternativesOf(schema)
  if (fields === undefined) return `${doc}export type ${name} = ${renderSchema(schema, where)}`
  if (alternatives !== undefined) {
    const given = alternatives.map((one) => `{ ${renderFields(one, where)} }`)
    return `${doc}export type ${name} = {\n${fields}\n} & (${given.join(" | ")})`
  }
  if (choice === undefined) return `${doc}export interface ${name} {\n${fields}\n}`
  const given = choice.map((one) => renderChoice(one, choice, schema, where))
  const common = renderFields(schema, where, choice)
  return `${doc}export type ${name} = {\n${common}\n} & (${given.join(" | ")})`
}

interface Where {
  readonly owner: string
  readonly brands: Contract["brands"]
  readonly isInput: boolean
}

export const renderFields = (
  schema: Schema,
  where: Where,
  without: ReadonlyArray<string> = []
): string => {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(isRecord(schema.properties) ? schema.properties : {})
    .map(([name, field]) => [name, asSchema(field)] as const)
    .filter(([name, { readOnly }]) => !without.includes(name) && readOnly !== true)
    .map(([name, field]) => renderField(name, field, required.includes(name), where))
    .join("\n")
}

/**
 * Fields of a request may be undefined, for requests that are built from parts. Undefined fields
 * are not sent.
 */
const renderField = (name: string, field: Schema, isRequired: boolean, where: Where): string => {
  const type = renderSchema(field, where, where.brands.get(`${where.owner}.${name}`))
  const optional = where.isInput ? `?: ${type} | undefined` : `?: ${type}`
  return `${docComment(withLimits(field, where))}readonly ${name}${isRequired ? `: ${type}` : optional}`
}

/**
 * `oneOf: [{ required: ["a"] }, { required: ["b"] }]` means that exactly one of the fields is
 * required.
 */
const requiredChoice = ({ oneOf }: Schema): ReadonlyArray<string> | undefined => {
  if (!Array.isArray(oneOf)) return undefined
  const names = oneOf.flatMap((one: unknown) =>
    isRecord(one) && !("additionalProperties" in one) && Array.isArray(one.required)
      ? one.required.map(String)
      : []
  )
  return names.length === oneOf.length ? names : undefined
}

/**
 * `anyOf` next to `properties` means that at least one of its members must match. A member that
 * only lists required fields uses the fields of the whole schema.
 */
const alternativesOf = ({ anyOf, properties }: Schema): ReadonlyArray<Schema> | undefined =>
  Array.isArray(anyOf)
    ? anyOf.map(asSchema).map((one) => ({ properties: pick(properties, one.required), ...one }))
    : undefined

const pick = (properties: unknown, names: unknown) =>
  Object.fromEntries(
    Object.entries(isRecord(properties) ? properties : {}).filter(
      ([name]) => Array.isArray(names) && names.includes(name)
    )
  )

const renderChoice = (
  chosen: string,
  choice: ReadonlyArray<string>,
  schema: Schema,
  where: Where
): string => {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const fields = choice.map((name) =>
    name === chosen
      ? renderField(name, asSchema(properties[name]), true, where)
      : `readonly ${name}?: undefined`
  )
  return `{\n${fields.join("\n")}\n}`
}

const renderSchema = (schema: Schema, where: Where, brand?: string): string => {
  const name = referencedName(schema)
  if (name !== undefined) return name
  if (Array.isArray(schema.enum)) return literals(schema.enum)
  const union: unknown = schema.anyOf ?? schema.oneOf
  if (Array.isArray(union)) {
    return union.map((one) => renderSchema(asSchema(one), where, brand)).join(" | ")
  }
  if (
    schema.type === undefined &&
    Object.keys(schema).every((key) => key === "description" || key === "examples")
  )
    return "unknown"
  const types = [schema.type].flat()
  return types.map((type) => renderType(type, schema, where, brand)).join(" | ")
}

const renderType = (type: unknown, schema: Schema, where: Where, brand?: string): string => {
  switch (type) {
    case "null":
    case "boolean":
    case "number":
      return type
    case "integer":
      return "number"
    case "string":
      return brand ?? (schema.format === "date-time" ? timestamp(where) : "string")
    case "array":
      return `ReadonlyArray<${renderSchema(asSchema(schema.items), where, brand)}>`
    case "object":
      if (isRecord(schema.properties)) return `{\n${renderFields(schema, where)}\n}`
      return isRecord(schema.additionalProperties)
        ? `Readonly<Record<string, ${renderSchema(schema.additionalProperties, where)}>>`
        : "Readonly<Record<string, unknown>>"
    default:
      throw new Error(`${where.owner}: no type for ${JSON.stringify(schema)}`)
  }
}

/** `JSON.stringify` and the query serialize a `Date` as the service expects. */
const timestamp = ({ isInput }: Where) => (isInput ? "Timestamp | Date" : "Timestamp")

const literals = (values: ReadonlyArray<unknown>) =>
  values.map((value) => JSON.stringify(value)).join(" | ")

const renderQuery = (
  { endpoint, isPaged, parameters, type }: Query,
  brands: Contract["brands"]
): string => {
  const where = { owner: endpoint, brands, isInput: true }
  const fields = parameters.map(({ description, name, required, schema }) =>
    renderField(name, { ...oneOrMore(schema), description }, required, where)
  )
  return `export interface ${type}${isPaged ? ` extends ${pageQuery}` : ""} {\n${fields.join("\n")}\n}`
}

/** A repeatable parameter also accepts a single value. */
const oneOrMore = (schema: Schema): Schema =>
  schema.type === "array" ? { anyOf: [asSchema(schema.items), schema] } : schema

/** Limits are documented only for inputs. Responses always satisfy them. */
const withLimits = (field: Schema, { isInput }: Where): string | undefined => {
  const parts = [described(field), isInput ? describeLimits(field) : undefined]
  return parts.filter((part) => part !== undefined).join(" ")
}

const described = ({ description }: Schema) =>
  typeof description === "string" ? description : undefined

const asSchema = (value: unknown): Schema => {
  if (isRecord(value)) return value
  throw new Error(`Not a JSON Schema: ${JSON.stringify(value)}`)
}
