import { isRecord, type Schema } from "./contract.ts"

/**
 * Describes the limits of a field: "1 to 200 characters." Returns undefined if the field's
 * description already contains them.
 */
export const describeLimits = (schema: Schema): string | undefined => {
  const said = typeof schema.description === "string" ? schema.description : ""
  const bounds = notNull(schema)
  const range = rangeOf(bounds)
  const isSaid = /\bat most\b/i.test(said)
  const parts = [
    range === undefined || isSaid ? undefined : `${range}.`,
    bounds.default === undefined || / when absent\b/.test(said)
      ? undefined
      : `${JSON.stringify(bounds.default)} when absent.`
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(" ")
}

const rangeOf = (schema: Schema): string | undefined =>
  between(schema.minimum, schema.maximum, "") ??
  between(schema.minLength, schema.maxLength, " characters") ??
  between(schema.minItems, schema.maxItems, " items") ??
  between(undefined, schema.maxProperties, " entries")

const between = (least: unknown, most: unknown, what: string): string | undefined => {
  const hasLeast = typeof least === "number" && (least > 0 || what === "")
  if (hasLeast && typeof most === "number") return `${count(least)} to ${count(most)}${what}`
  if (typeof most === "number") return `At most ${count(most)}${what}`
  return hasLeast ? `At least ${count(least)}${what}` : undefined
}

const count = (number: number): string => number.toLocaleString("en-US")

/** Returns the non-null member of a nullable schema, which has the limits. */
const notNull = (schema: Schema): Schema => {
  if (!Array.isArray(schema.anyOf)) return schema
  const [only, second] = schema.anyOf.filter((one) => isRecord(one) && one.type !== "null")
  return isRecord(only) && second === undefined ? { ...schema, ...only } : schema
}
