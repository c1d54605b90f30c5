import type { DocumentWithSharedParameters } from "../published/withSharedParameters.ts"

/** Document fields that do not affect the data that clients send or receive. */
const texts = new Set([
  "deprecated",
  "description",
  "example",
  "examples",
  "headers",
  "summary",
  "tags",
  "x-codeSamples"
])

/**
 * The keys under these fields are user-defined names, so a key such as `description` is not
 * documentation and must be kept.
 */
const named = new Set(["parameters", "paths", "properties", "schemas", "webhooks"])

const without = (value: unknown, isNamed = false): unknown => {
  if (Array.isArray(value)) return value.map((one) => without(one))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isNamed || !texts.has(name))
      .map(([name, one]) => [name, without(one, named.has(name) && !Array.isArray(one))])
  )
}

/** Returns the promised part of a document, without descriptions and error responses. */
export const promisedPart = ({ components, paths, webhooks }: DocumentWithSharedParameters) => {
  const { parameters, schemas } = components
  const succeeding = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, { responses, ...operation }]) => [
        method,
        {
          ...operation,
          responses: Object.fromEntries(
            Object.entries(responses).filter(([status]) => status.startsWith("2"))
          )
        }
      ])
    )
  ])
  const used = JSON.stringify([succeeding, webhooks, parameters])
  return without({
    paths: Object.fromEntries(succeeding),
    webhooks: Object.fromEntries(
      Object.entries(webhooks).map(([name, { post }]) => [
        name,
        { post: { parameters: post.parameters, requestBody: post.requestBody } }
      ])
    ),
    components: { parameters, schemas: reachable(schemas, used) }
  }) as Readonly<Record<string, unknown>>
}

/** Returns the schemas that a text refers to, directly or indirectly. */
const reachable = (schemas: Readonly<Record<string, unknown>>, text: string) => {
  const found = new Map<string, unknown>()
  const follow = (part: string): void => {
    for (const [, name = ""] of part.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue
      found.set(name, schemas[name])
      follow(JSON.stringify(schemas[name]))
    }
  }
  follow(text)
  return Object.fromEntries([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
