import type { JsonSchema } from "effect"
import { isSchema, referencedName } from "../schemas/rewriting.ts"

type Schema = JsonSchema.JsonSchema
type Fields = Readonly<Record<string, unknown>>

interface Context {
  readonly older: Fields
  readonly newer: Fields
  /** Whether the service receives the value from clients or sends it to them. */
  readonly direction: "received" | "sent"
}

/**
 * Returns the changes of a schema that break clients. The service must still accept every value
 * that it accepted before, so a received schema can only become wider. A sent schema can gain
 * fields and enumeration values, which clients ignore, but must keep its fields and types.
 */
export const schemaProblems = (
  at: string,
  old: unknown,
  now: unknown,
  context: Context,
  compared: ReadonlySet<string> = new Set()
): ReadonlyArray<string> => {
  const before = resolve(old, context.older)
  const after = resolve(now, context.newer)
  if (before === undefined) return []
  if (after === undefined) return [`${at} has no schema any more`]
  const pair = `${nameOf(old)} ${nameOf(now)}`
  if (pair !== " " && compared.has(pair)) return []
  const seen = new Set([...compared, pair])
  const inner = (place: string, one: unknown, other: unknown) =>
    schemaProblems(place, one, other, context, seen)
  const [oldChoices, newChoices] = [
    choicesOf(before, context.older),
    choicesOf(after, context.newer)
  ]
  if (oldChoices.length > 1 || newChoices.length > 1) {
    return choiceProblems(at, oldChoices, newChoices, { ...context, inner })
  }
  const received = context.direction === "received"
  return [
    ...typeProblems(at, before, after, received),
    ...(received ? boundProblems(at, before, after) : []),
    ...propertyProblems(at, before, after, { received, inner }),
    ...(before.items === undefined ? [] : inner(`${at}[]`, before.items, after.items)),
    ...(isSchema(before.additionalProperties)
      ? inner(`${at}.*`, before.additionalProperties, after.additionalProperties)
      : [])
  ]
}

type Inner = (at: string, old: unknown, now: unknown) => ReadonlyArray<string>

/**
 * Each choice of a union needs a counterpart: a sent choice must have existed before, and a
 * received choice must still exist.
 */
const choiceProblems = (
  at: string,
  old: ReadonlyArray<Choice>,
  now: ReadonlyArray<Choice>,
  { direction, inner }: Context & { readonly inner: Inner }
): ReadonlyArray<string> => {
  const received = direction === "received"
  const [needed, found] = received ? [old, now] : [now, old]
  return needed.flatMap((choice) => {
    const tries = found.map((one) =>
      received ? inner(at, choice.schema, one.schema) : inner(at, one.schema, choice.schema)
    )
    if (tries.some((problems) => problems.length === 0)) return []
    // Clients ignore events and records of unknown kinds.
    const isNewKind = !received && choice.values.length > 0
    const counterpart = found.findIndex((one) => isCounterpart(choice, one))
    if (counterpart !== -1) return tries[counterpart] ?? []
    const what = received ? "no longer takes" : "may also be"
    return isNewKind ? [] : [`${at} ${what} ${shown(choice.schema)}`]
  })
}

/**
 * Matches a union's members by the discriminator's values if there is one, and otherwise by type.
 */
const isCounterpart = (one: Choice, other: Choice): boolean =>
  one.values.length > 0
    ? other.values.some((value) => one.values.includes(value))
    : one.schema.type === other.schema.type

interface Choice {
  readonly schema: Schema
  /** The discriminator values of this member of the union. */
  readonly values: ReadonlyArray<string>
}

/** Returns the members of a union or of a nullable type. */
const choicesOf = (schema: Schema, document: Fields): ReadonlyArray<Choice> => {
  const union: unknown = schema.oneOf ?? schema.anyOf
  if (Array.isArray(union) && schema.properties === undefined) {
    const mapping = Object.entries(fieldsIn(fieldsIn(schema["discriminator"])["mapping"]))
    return union.filter(isSchema).flatMap((one) => {
      const values = mapping.filter(([, $ref]) => $ref === one.$ref).map(([value]) => value)
      if (values.length > 0) return [{ schema: one, values }]
      const inner = resolve(one, document)
      return inner === undefined ? [] : choicesOf(inner, document)
    })
  }
  return Array.isArray(schema.type)
    ? schema.type.map((type: unknown) => ({ schema: { ...schema, type } as Schema, values: [] }))
    : [{ schema, values: [] }]
}

const typeProblems = (
  at: string,
  before: Schema,
  after: Schema,
  received: boolean
): ReadonlyArray<string> => {
  const [wide, narrow] = received ? [after, before] : [before, after]
  const fits =
    wide.type === undefined ||
    wide.type === narrow.type ||
    (wide.type === "number" && narrow.type === "integer")
  const values = (schema: Schema): ReadonlyArray<unknown> | undefined =>
    Array.isArray(schema.enum) ? schema.enum : undefined
  const [old, now] = [values(before), values(after)]
  const lost = received ? (old ?? []).filter((value) => now?.includes(value) === false) : []
  return [
    ...(fits ? [] : [`${at} is ${shown(after)}, and was ${shown(before)}`]),
    ...lost.map((value) => `${at} no longer takes ${JSON.stringify(value)}`),
    ...(received && old === undefined && now !== undefined ? [`${at} takes only some values`] : []),
    ...(!received && old !== undefined && now === undefined ? [`${at} may have any value`] : []),
    ...(after["format"] === before["format"] || (received && after["format"] === undefined)
      ? []
      : [`${at} has another format`]),
    ...(received && JSON.stringify(after["default"]) !== JSON.stringify(before["default"])
      ? [`${at} has another default`]
      : [])
  ]
}

const lowest = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"] as const
const highest = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"] as const

/** Reports bounds that reject previously accepted values. */
const boundProblems = (at: string, before: Schema, after: Schema): ReadonlyArray<string> => {
  const isHigher = (bound: string) =>
    Number(after[bound] ?? -Infinity) > Number(before[bound] ?? -Infinity)
  const isLower = (bound: string) =>
    Number(after[bound] ?? Infinity) < Number(before[bound] ?? Infinity)
  const isAnother = (rule: string) =>
    after[rule] !== undefined && JSON.stringify(after[rule]) !== JSON.stringify(before[rule])
  return [
    ...lowest.filter(isHigher),
    ...highest.filter(isLower),
    ...["pattern", "uniqueItems", "not", "anyOf", "oneOf", "allOf"].filter(isAnother)
  ].map((rule) => `${at} is stricter: ${rule}`)
}

const propertyProblems = (
  at: string,
  before: Schema,
  after: Schema,
  { inner, received }: { readonly received: boolean; readonly inner: Inner }
): ReadonlyArray<string> => {
  const [old, now] = [fieldsIn(before.properties), fieldsIn(after.properties)]
  const [mustBefore, mustAfter] = [requiredIn(before), requiredIn(after)]
  const closes = after.additionalProperties === false && before.additionalProperties !== false
  return [
    ...Object.entries(old).flatMap(([name, field]) => {
      const place = `${at}.${name}`
      if (now[name] !== undefined) return inner(place, field, now[name])
      return received && after.additionalProperties !== false ? [] : [`${place} is gone`]
    }),
    ...(received
      ? mustAfter.filter((name) => !mustBefore.includes(name)).map((name) => `${at} needs ${name}`)
      : mustBefore
          .filter((name) => !mustAfter.includes(name))
          .map((name) => `${at}.${name} may be absent`)),
    ...(received && closes ? [`${at} no longer takes other fields`] : [])
  ]
}

/** Returns the fields of an object, or no fields for any other value. */
export const fieldsIn = (value: unknown): Fields => (isSchema(value) ? value : {})

const requiredIn = ({ required }: Schema): ReadonlyArray<string> =>
  Array.isArray(required) ? required.map(String) : []

const nameOf = (schema: unknown): string => (isSchema(schema) ? (referencedName(schema) ?? "") : "")

/** Resolves a reference. Fields next to the `$ref`, such as a description, are ignored. */
const resolve = (schema: unknown, document: Fields): Schema | undefined => {
  const name = nameOf(schema)
  if (name === "") return isSchema(schema) ? schema : undefined
  return resolve(fieldsIn(fieldsIn(document["components"])["schemas"])[name], document)
}

const shown = (schema: Schema): string =>
  referencedName(schema) ?? String(schema.type ?? "any value")
