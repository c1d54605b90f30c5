import type { JsonSchema } from "effect"

type Schema = JsonSchema.JsonSchema

const componentPath = "#/components/schemas/"

export const reference = (name: string): Schema => ({ $ref: componentPath + name })

export const referencedName = (schema: Schema): string | undefined =>
  typeof schema.$ref === "string" ? schema.$ref.slice(componentPath.length) : undefined

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const schemaLists = new Set(["anyOf", "oneOf", "allOf", "prefixItems"])
const schemaRecords = new Set(["properties", "patternProperties"])
const singleSchemas = new Set(["items", "additionalProperties", "propertyNames", "not"])

/** Rewrites a schema bottom-up. Examples, defaults and enums are data and stay unchanged. */
export const mapSchema = (schema: Schema, f: (schema: Schema) => Schema): Schema => {
  const visit = (value: unknown) => (isSchema(value) ? mapSchema(value, f) : value)
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (singleSchemas.has(key)) return [key, visit(value)]
    if (schemaLists.has(key) && Array.isArray(value)) return [key, value.map(visit)]
    if (schemaRecords.has(key) && isSchema(value)) {
      return [
        key,
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one)]))
      ]
    }
    return [key, value]
  })
  return f(Object.fromEntries(entries))
}

/**
 * Simplifies schemas that Effect writes out: the bounds of a double for `Schema.Int`, an `allOf` of
 * one for an annotated check, an `anyOf` for `NullOr`. Generators produce the same types from the
 * simple schemas, which are easier to read.
 */
export const simplified = (schema: Schema): Schema =>
  mapSchema(schema, (part) =>
    withoutSafeBounds(withTypeList(withoutLoneAnyOf(withoutLoneAllOf(withOwnText(part)))))
  )

const withoutSafeBounds = (schema: Schema): Schema => {
  const { maximum, minimum, ...rest } = schema
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum })
  }
}

/** Merges a field's own description into its schema. */
const withOwnText = ({ allOf, ...rest }: Schema): Schema => {
  if (!Array.isArray(allOf)) return rest
  const isText = (part: unknown): part is { readonly description: string } =>
    isSchema(part) && Object.keys(part).join() === "description"
  const text = allOf.findLast(isText)
  const [first, ...others] = allOf.filter((part) => !isText(part))
  const left =
    text !== undefined && others.length === 0 ? Object(first ?? {}) : { allOf: [first, ...others] }
  return { ...rest, ...left, ...text }
}

const withoutLoneAllOf = (schema: Schema): Schema => {
  if (!Array.isArray(schema.allOf) || schema.allOf.length !== 1) return schema
  const {
    allOf: [only],
    ...rest
  } = schema
  return isSchema(only) && Object.keys(only).every((key) => !Object.hasOwn(rest, key))
    ? { ...rest, ...only }
    : schema
}

/** Unwraps an `anyOf` with a single member. */
const withoutLoneAnyOf = (schema: Schema): Schema => {
  if (!Array.isArray(schema.anyOf) || schema.anyOf.length !== 1) return schema
  const { anyOf, ...rest } = schema
  const [only]: ReadonlyArray<unknown> = anyOf
  return isSchema(only) ? { ...only, ...rest } : schema
}

const withTypeList = (schema: Schema): Schema => {
  if (!Array.isArray(schema.anyOf) || schema.anyOf.length !== 2) return schema
  const {
    anyOf: [some, none],
    ...rest
  } = schema
  const nullable =
    isSchema(some) && isSchema(none) && none.type === "null" && Object.keys(none).length === 1
  return nullable && typeof some.type === "string" && some.enum === undefined
    ? { ...some, ...rest, type: [some.type, "null"] }
    : schema
}

/**
 * Turns "one of these fields" into a list of choices that contain the fields. Generated clients
 * then have a union, and a request without either field does not compile.
 */
export const withChoices = (schema: Schema): Schema => {
  const { oneOf, properties } = schema
  if (!Array.isArray(oneOf) || !isSchema(properties)) return schema
  return {
    ...schema,
    oneOf: oneOf.map((one: unknown) => {
      if (!isSchema(one) || !Array.isArray(one.required)) return one
      const own = one.required.map((name: string) => [name, properties[name]])
      return { type: "object", properties: Object.fromEntries(own), ...one }
    })
  }
}

/**
 * Allows unknown fields in a response, because responses may gain fields within a version, which
 * would break clients generated from closed schemas. Requests with unknown fields are rejected, so
 * their schemas stay closed.
 */
export const withUnknownFields = (schema: Schema): Schema =>
  mapSchema(schema, (part) => {
    const { additionalProperties, ...rest } = part
    return additionalProperties === false ? rest : part
  })
