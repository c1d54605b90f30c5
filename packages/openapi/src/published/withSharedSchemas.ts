import type { JsonSchema } from "effect"
import { isSchema, reference } from "../schemas/rewriting.ts"
import { pascal } from "./pascal.ts"

type Schema = JsonSchema.JsonSchema
type Schemas = Readonly<Record<string, Schema>>

/**
 * The minimum length of a shared schema. A reference is about as long, so sharing a shorter schema
 * saves nothing.
 */
const shortest = 80

/**
 * Turns the schemas of fields that several components have into components, named after the field.
 * If fields with the same name have different schemas, the schema that saves the most gets this
 * name, and the name of each other schema begins with the name of the first component that has it.
 */
export const withSharedSchemas = (schemas: Schemas): Schemas => {
  const names = sharedNames(schemas)
  const share = (schema: Schema): Schema =>
    mapFields(schema, (field, value) => {
      const name = names.get(keyOf(field, JSON.stringify(value)))
      return name === undefined ? undefined : reference(name)
    })
  return Object.fromEntries(
    [
      ...Object.entries(schemas).map(([name, schema]) => [name, share(schema)] as const),
      ...[...names].map(([key, name]) => [name, share(JSON.parse(textOf(key)))] as const)
    ].toSorted(([one], [other]) => (one < other ? -1 : 1))
  )
}

/**
 * Returns the key by which fields share a schema. Only fields with the same name share one, because
 * the component is named after the field.
 */
const keyOf = (field: string, text: string): string => `${field} ${text}`
const textOf = (key: string): string => key.slice(key.indexOf(" ") + 1)

/** Returns the names of the shared schemas, by their key. */
const sharedNames = (schemas: Schemas): ReadonlyMap<string, string> => {
  const found = new Map<string, Shared>()
  for (const [component, schema] of Object.entries(schemas)) {
    mapFields(schema, (field, value) => {
      const text = JSON.stringify(value)
      const key = keyOf(field, text)
      const known = found.get(key)
      if (known !== undefined) known.count++
      else if (text.length >= shortest) found.set(key, { component, count: 1, field, text })
      return undefined
    })
  }
  const taken = new Set(Object.keys(schemas))
  const names = new Map<string, string>()
  for (const one of [...found.values()].toSorted((left, right) => saved(right) - saved(left))) {
    const field = pascal(one.field)
    const name = [field, one.component + field].find((free) => !taken.has(free))
    if (one.count < 2 || name === undefined) continue
    taken.add(name)
    names.set(keyOf(one.field, one.text), name)
  }
  return names
}

interface Shared {
  /** The first component that has the field. */
  readonly component: string
  readonly field: string
  readonly text: string
  count: number
}

const saved = ({ count, text }: Shared): number => (count - 1) * text.length

/** The values of these keys are data and not schemas. */
const data = new Set(["default", "discriminator", "enum", "examples"])

/** Replaces each field for which `f` returns a schema, from the outside in. */
const mapFields = (
  schema: Schema,
  f: (name: string, field: unknown) => Schema | undefined
): Schema => {
  const visit = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(visit) : isSchema(value) ? mapFields(value, f) : value
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (data.has(key)) return [key, value]
      if (key !== "properties" || !isSchema(value)) return [key, visit(value)]
      const fields = Object.entries(value).map(([name, field]) => [
        name,
        f(name, field) ?? visit(field)
      ])
      return [key, Object.fromEntries(fields)]
    })
  )
}
