import type { JsonSchema } from "effect"
import { isSchema, referenced } from "../../src/schemas/rewriting.ts"

export type Schema = JsonSchema.JsonSchema
export type Schemas = Readonly<Record<string, Schema>>

const orList = new Intl.ListFormat("en", { type: "disjunction" })
const number = new Intl.NumberFormat("en")

export const code = (text: string): string => `\`${text}\``

/** The anchor that GitHub gives a heading. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-")

export const link = (heading: string, text = heading): string => `[${text}](#${anchor(heading)})`

export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map(cell).join(" | ")} |`)
    .join("\n")

/** A bar ends a table cell, even between backticks. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")

const formats: Readonly<Record<string, string>> = {
  "date-time": "time",
  email: "email address",
  uri: "URL",
  uuid: "UUID"
}

/** The type of a value in words: `integer or null`, `list of Scope`. */
export const typeOf = (schema: Schema): string => {
  const name = referenced(schema)
  if (name !== undefined) return link(name)
  if (Array.isArray(schema.enum)) return orList.format(schema.enum.map((one) => code(String(one))))
  if (Array.isArray(schema.anyOf)) return orList.format(schema.anyOf.filter(isSchema).map(typeOf))
  if (Array.isArray(schema.type)) {
    return orList.format(schema.type.map((type) => typeOf({ ...schema, type })))
  }
  switch (schema.type) {
    case "array":
      return `list of ${isSchema(schema.items) ? typeOf(schema.items) : "anything"}`
    case "object":
      return isSchema(schema.additionalProperties)
        ? `map to ${typeOf(schema.additionalProperties)}`
        : "object"
    case "string":
      return formats[String(schema.format)] ?? "string"
    default:
      if (typeof schema.type === "string") return schema.type
      throw new Error(`Teach the API reference to name ${JSON.stringify(schema)}`)
  }
}

const range = (least: unknown, most: unknown, unit = ""): ReadonlyArray<string> => {
  const [from, to] = [least, most].map((one) =>
    typeof one === "number" ? number.format(one) : undefined
  )
  if (to === undefined) return from === undefined || from === "0" ? [] : [`at least ${from}${unit}`]
  return from === undefined || (from === "0" && unit !== "")
    ? [`at most ${to}${unit}`]
    : [`${from} to ${to}${unit}`]
}

/** The limits of a value beyond its type. */
const limitsOf = (schema: Schema): string => {
  const limits = [
    ...range(schema.minLength, schema.maxLength, " characters"),
    ...range(schema.minimum, schema.maximum),
    ...range(schema.minItems, schema.maxItems, " items"),
    ...(schema.uniqueItems === true ? ["none twice"] : []),
    ...range(undefined, schema.maxProperties, " entries"),
    ...(typeof schema.pattern === "string" ? [`matches ${code(schema.pattern)}`] : []),
    ...(schema.default === undefined ? [] : [`${String(schema.default)} when absent`])
  ]
  const text = limits.join(", ")
  return text === "" ? "" : `${text[0]?.toUpperCase()}${text.slice(1)}.`
}

export const fieldsOf = (schema: Schema): ReadonlyArray<readonly [string, Schema]> =>
  Object.entries(isSchema(schema.properties) ? schema.properties : {}).flatMap(([name, field]) =>
    isSchema(field) ? [[name, field] as const] : []
  )

/**
 * The fields of a record. For a body that is sent, the table also says which fields are required.
 */
export const fieldTable = (schema: Schema, schemas: Schemas, isSent: boolean): string => {
  const required: ReadonlyArray<unknown> = Array.isArray(schema.required) ? schema.required : []
  return valueTable(
    fieldsOf(schema).map(([name, field]) => ({
      name,
      schema: field,
      required: required.includes(name)
    })),
    schemas,
    isSent
  )
}

export interface Value {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
  readonly description?: string
}

export const valueTable = (
  values: ReadonlyArray<Value>,
  schemas: Schemas,
  isSent: boolean
): string => {
  const rows = values.map(({ description, name, required, schema }) => [
    code(name),
    typeOf(schema),
    ...(isSent ? [required ? "yes" : "no"] : []),
    [description ?? explained(schema, isSent ? schemas : {}), limitsOf(schema)]
      .filter(Boolean)
      .join(" ")
  ])
  return table(["field", "type", ...(isSent ? ["required"] : []), "what it is"], rows)
}

/**
 * The field's own description. For a body that is sent, also that of the list of words it refers
 * to.
 */
const explained = (schema: Schema, schemas: Schemas): string => {
  const named = schemas[referenced(schema) ?? ""]
  const described = schema.description ?? (named?.enum === undefined ? "" : named.description)
  return typeof described === "string" ? described : ""
}
