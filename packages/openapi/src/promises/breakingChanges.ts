import type { JsonSchema } from "effect"
import { isSchema } from "../schemas/rewriting.ts"
import { accessProblems } from "./accessProblems.ts"
import { fieldsIn, schemaProblems } from "./schemaProblems.ts"

type Schema = JsonSchema.JsonSchema
type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the changes in the newer document that would break clients of the older one.
 * docs/api-changes.md lists the rules. Operations for the control panel are excluded.
 */
export const breakingChanges = (older: Fields, newer: Fields): ReadonlyArray<string> => [
  ...each(older["paths"], (path, methods) =>
    each(methods, (method, operation) => {
      if (operation["x-internal"] === true) return []
      const at = `${method.toUpperCase()} ${path}`
      const now = fieldsIn(fieldsIn(newer["paths"])[path])[method]
      return isSchema(now) ? operationProblems(at, operation, now, { newer, older }) : [gone(at)]
    })
  ),
  ...each(older["webhooks"], (name, { post }) => {
    const at = `the webhook ${name}`
    const now = fieldsIn(fieldsIn(newer["webhooks"])[name])["post"]
    if (!isSchema(now)) return [gone(at)]
    const documents = { older, newer }
    return [
      ...parametersOf(fieldsIn(post), older).flatMap(({ name: header }) =>
        parametersOf(now, newer).some((one) => one["name"] === header)
          ? []
          : [`${at} no longer has the header ${String(header)}`]
      ),
      ...schemaProblems(at, bodyOf(post), bodyOf(now), { ...documents, direction: "sent" })
    ]
  })
]

interface Documents {
  readonly older: Fields
  readonly newer: Fields
}

const operationProblems = (
  at: string,
  old: Fields,
  now: Fields,
  documents: Documents
): ReadonlyArray<string> => [
  ...(old["operationId"] === now["operationId"] ? [] : [`${at} has another operationId`]),
  ...accessProblems(at, old, now),
  ...parameterProblems(at, old, now, documents),
  ...bodyProblems(at, old, now, documents),
  ...each(old["responses"], (status, response) => {
    if (!status.startsWith("2")) return []
    const answer = `${at} ${status}`
    const other = fieldsIn(now["responses"])[status]
    if (!isSchema(other)) return [gone(answer)]
    return schemaProblems(answer, contentOf(response), contentOf(other), {
      ...documents,
      direction: "sent"
    })
  })
]

const parameterProblems = (
  at: string,
  old: Fields,
  now: Fields,
  { newer, older }: Documents
): ReadonlyArray<string> => {
  const before = new Map(parametersOf(old, older).map((one) => [keyOf(one), one]))
  const after = new Map(parametersOf(now, newer).map((one) => [keyOf(one), one]))
  return [
    ...[...before].flatMap(([key, parameter]) => {
      const other = after.get(key)
      return other === undefined
        ? [`${at} no longer takes ${key}`]
        : schemaProblems(`${at} ${key}`, parameter["schema"], other["schema"], {
            older,
            newer,
            direction: "received"
          })
    }),
    ...[...after].flatMap(([key, parameter]) =>
      parameter["required"] === true && before.get(key)?.["required"] !== true
        ? [`${at} needs ${key}`]
        : []
    )
  ]
}

const bodyProblems = (
  at: string,
  old: Fields,
  now: Fields,
  documents: Documents
): ReadonlyArray<string> => {
  const [before, after] = [bodyOf(old), bodyOf(now)]
  if (before === undefined) {
    const isNeeded = fieldsIn(now["requestBody"])["required"] === true
    return isNeeded ? [`${at} needs a body`] : []
  }
  return schemaProblems(`${at} body`, before, after, { ...documents, direction: "received" })
}

const gone = (what: string) => `${what} is gone`

const each = (
  record: unknown,
  f: (name: string, value: Fields) => ReadonlyArray<string>
): ReadonlyArray<string> =>
  Object.entries(fieldsIn(record)).flatMap(([name, value]) => f(name, fieldsIn(value)))

const contentOf = ({ content }: Fields): Schema | undefined => {
  const [media] = Object.values(fieldsIn(content))
  const { schema } = fieldsIn(media)
  return isSchema(schema) ? schema : undefined
}

const bodyOf = (operation: unknown): Schema | undefined =>
  contentOf(fieldsIn(fieldsIn(operation)["requestBody"]))

const keyOf = ({ in: place, name }: Fields) => `the ${String(place)} parameter ${String(name)}`

const parametersOf = ({ parameters }: Fields, document: Fields): ReadonlyArray<Fields> =>
  (Array.isArray(parameters) ? parameters : []).map((one: unknown) => {
    const { $ref } = fieldsIn(one)
    return typeof $ref === "string"
      ? fieldsIn(
          fieldsIn(fieldsIn(document["components"])["parameters"])[$ref.split("/").at(-1) ?? ""]
        )
      : fieldsIn(one)
  })
