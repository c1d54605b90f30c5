import type { JsonSchema } from "effect"
import { isSchema, mapSchema, referenced } from "./rewriting.ts"

type Schema = JsonSchema.JsonSchema
type Schemas = Readonly<Record<string, Schema>>

/** Which components are bodies of PATCH, and which belong to other bodies. */
export interface Bodies {
  readonly patches: ReadonlySet<string>
  readonly others: ReadonlySet<string>
}

/**
 * A PATCH has the fields of a create, but a field that is absent there is left as it is. So their
 * descriptions lose what they say of absent fields. What a choice such as `Overlap` says of it moves
 * from the choice to the fields of the bodies that it holds for.
 */
export const withPatches = (schemas: Schemas, { others, patches }: Bodies): Schemas => {
  const choices = new Map(
    [...patches]
      .flatMap((name) => Object.values(propertiesOf(schemas[name])))
      .map((property) => referenced(property) ?? "")
      .flatMap((name): ReadonlyArray<[string, string]> => {
        const { description } = schemas[name] ?? {}
        return typeof description === "string" && withoutAbsent(description) !== description
          ? [[name, description]]
          : []
      })
  )
  const said = (part: Schema) => {
    const description = choices.get(referenced(part) ?? "")
    return description === undefined || part.description !== undefined
      ? part
      : { ...part, description }
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const choice = choices.get(name)
      if (choice !== undefined) return [name, { ...schema, description: withoutAbsent(choice) }]
      if (patches.has(name)) return [name, asPatch(schema, schemas)]
      return [name, others.has(name) ? mapSchema(schema, said) : schema]
    })
  )
}

// ---------------------------------------------------------------------------

const propertiesOf = (schema: Schema | undefined): Schemas =>
  isSchema(schema?.properties) ? (schema.properties as Schemas) : {}

const asPatch = (schema: Schema, schemas: Schemas): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([name, property]) => {
      const { description } = property
      const text = typeof description === "string" ? withoutAbsent(description) : ""
      const removed = isNullable(property) && !/\bnull\b/i.test(text) ? [removedByNull] : []
      const replaced = isObject(property, schemas) && !text.includes("Absent fields") ? [whole] : []
      const all = [...(text === "" ? [] : [text]), ...removed, ...replaced].join(" ")
      return [name, all === "" ? property : { ...property, description: all }]
    })
  )
})

const removedByNull = "Null removes it."

const whole = "What is given replaces all of it."

const isNullable = ({ anyOf, type }: Schema): boolean =>
  [type].flat().includes("null") ||
  [anyOf].flat().some((part) => isSchema(part) && part.type === "null")

const isObject = (schema: Schema, schemas: Schemas): boolean => {
  const name = referenced(schema)
  if (name !== undefined) return isObject(schemas[name] ?? {}, schemas)
  return (
    [schema.type].flat().includes("object") ||
    [schema.anyOf, schema.oneOf]
      .flat()
      .some(
        (part) =>
          isSchema(part) &&
          !("required" in part && part.type === undefined) &&
          isObject(part, schemas)
      )
  )
}

const lower = (text: string) =>
  /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text

/** A sentence, or a part of one after a semicolon. It ends where the next one begins. */
const sentence = /(?:[^.;]|\.(?!\s|$))+(?:[.;](?=\s|$)|$)/g

/** The description without what it says of a field that is absent. What it says of null stays. */
export const withoutAbsent = (description: string): string =>
  (description.match(sentence) ?? [])
    .flatMap((one) => {
      const text = one.trim()
      const orNull = /^(.+) when absent(?:, null or 0| or null)[.;]$/s.exec(text)
      if (orNull !== null) {
        const value = orNull[1] ?? ""
        const or0 = text.includes("null or 0") ? " or 0" : ""
        return value === "None"
          ? [removedByNull.replace("Null", `Null${or0}`)]
          : [`Null${or0}: ${lower(value)}.`]
      }
      if (text.startsWith("Absent or null: ")) return [text.replace("Absent or null", "Null")]
      return / when absent[.;]$/.test(text) || text.startsWith("When absent: ") ? [] : [text]
    })
    .join(" ")
    .replace(/;$/, ".")
