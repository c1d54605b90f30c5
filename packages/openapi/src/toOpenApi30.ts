import type { PublishedDocument } from "./publishedDocument.ts"
import { isSchema, referencedName } from "./schemas/rewriting.ts"

type Fields = Readonly<Record<string, unknown>>

/**
 * Converts the document to OpenAPI 3.0, for generators that do not support 3.1, such as
 * oapi-codegen for Go. Webhooks are omitted, because 3.0 cannot describe them.
 */
export const toOpenApi30 = ({
  components,
  info,
  paths,
  security,
  servers,
  tags
}: PublishedDocument) => {
  const { contact, description, license, title, version } = info
  const converted = converter(components.schemas)
  return {
    openapi: "3.0.3",
    info: {
      title,
      version,
      description,
      contact,
      ...(license !== undefined && { license: { name: license.name } })
    },
    servers,
    security,
    tags,
    paths: converted(paths),
    components: converted(components)
  }
}

/** These fields' values are data and not schemas. */
const data = new Set(["default", "enum", "example"])

const converter = (schemas: Fields) => {
  const converted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(converted)
    if (!isSchema(value)) return value
    const fields = Object.fromEntries(
      Object.entries(value).flatMap(([name, field]): ReadonlyArray<[string, unknown]> => {
        if (data.has(name)) return [[name, field]]
        if (name === "examples" && Array.isArray(field)) return [["example", field[0]]]
        if (name === "type" && Array.isArray(field)) return nullableType(field)
        return [[name, converted(field)]]
      })
    )
    return withoutSiblings(withNullable(fields, schemas))
  }
  return converted
}

/** In OpenAPI 3.0, a schema has only one `type`. `nullable` allows null. */
const nullableType = (types: ReadonlyArray<unknown>): ReadonlyArray<[string, unknown]> => {
  const [type, ...others] = types.filter((one) => one !== "null")
  if (others.length > 0) throw new Error(`OpenAPI 3.0 cannot say ${types.join(" or ")}`)
  return [
    ["type", type],
    ["nullable", true]
  ]
}

const isNull = (schema: unknown): boolean => isSchema(schema) && schema["type"] === "null"

/** `nullable` applies only next to a `type`, so the common type of the choices is added. */
const withNullable = (fields: Fields, schemas: Fields): Fields => {
  const { anyOf, ...others } = fields
  if (!Array.isArray(anyOf) || !anyOf.some(isNull)) return fields
  const choices: ReadonlyArray<unknown> = anyOf.filter((one) => !isNull(one))
  const [type, ...otherTypes] = new Set(choices.map((choice) => typeOf(choice, schemas)))
  if (type === undefined || otherTypes.length > 0) {
    throw new Error(`OpenAPI 3.0 cannot say that ${JSON.stringify(fields)} may be null`)
  }
  return { ...others, type, nullable: true, [choices.length === 1 ? "allOf" : "anyOf"]: choices }
}

const typeOf = (schema: unknown, schemas: Fields): unknown => {
  if (!isSchema(schema)) return undefined
  const name = referencedName(schema)
  if (name !== undefined) return typeOf(schemas[name], schemas)
  const { anyOf, oneOf, type } = schema
  const union: unknown = anyOf ?? oneOf
  return type ?? (Array.isArray(union) ? typeOf(union[0], schemas) : undefined)
}

/** Moves a `$ref` into an `allOf`, because 3.0 ignores the siblings of a `$ref`. */
const withoutSiblings = (fields: Fields): Fields => {
  const { $ref, ...others } = fields
  return typeof $ref === "string" && Object.keys(others).length > 0
    ? { ...others, allOf: [{ $ref }] }
    : fields
}
