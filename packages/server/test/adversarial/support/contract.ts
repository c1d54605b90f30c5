import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "@scheduling/openapi/OpenApiDocument"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import { endpointsOf } from "@scheduling/openapi/contract/endpoints"
import type { JsonSchema } from "effect"

/** An endpoint, with what an attacker can learn about it from the public API reference. */
export interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly access: AccessRule
  readonly queryFields: ReadonlyArray<string>
  readonly takesIdempotencyKey: boolean
  /** The schema of the body. Undefined if the endpoint accepts no body. */
  readonly schema: JsonSchema.JsonSchema | undefined
  /** A valid body that causes a change. */
  readonly example: Readonly<Record<string, unknown>> | undefined
  /** Whether the response is a page of a list. */
  readonly isList: boolean
}

const document = openApiDocument(Api)

export const schemas = document.components.schemas

/** Resolves a `$ref`. For a union, returns the member that its example matches. */
export const resolveSchema = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  if (typeof schema.$ref === "string") {
    return resolveSchema(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})
  }
  // A chain's step is a call unless its `kind` says otherwise.
  const [call]: ReadonlyArray<JsonSchema.JsonSchema> = Object(schema)["anyOf"] ?? []
  if (String(call?.$ref).endsWith("/CallStepInput"))
    return resolveSchema({ $ref: String(call?.$ref) })
  const { mapping, propertyName } = Object(schema["discriminator"])
  return mapping === undefined
    ? schema
    : resolveSchema({ $ref: mapping[Object([schema.examples].flat()[0])[propertyName]] })
}

/** Returns the names of an object's fields, including response-only fields. */
export const propertiesOf = (schema: JsonSchema.JsonSchema | undefined): ReadonlyArray<string> =>
  Object.keys(Object(schema?.["properties"]))

/**
 * Returns the fields that a body can set, and the response-only fields, which a body can contain
 * but which are ignored.
 */
export const fieldsOf = (schema: JsonSchema.JsonSchema | undefined) => {
  const fields = Object.entries<JsonSchema.JsonSchema>(Object(schema?.["properties"]))
  const isIgnored = ([, field]: (typeof fields)[number]) => field["readOnly"] === true
  return {
    taken: fields.filter((field) => !isIgnored(field)),
    ignored: fields.filter(isIgnored).map(([name]) => name)
  }
}

/** Returns whether the schema accepts any JSON value. */
export const acceptsAnyJson = (schema: JsonSchema.JsonSchema): boolean =>
  Object.keys(schema).every((part) => part === "description" || part === "examples")

/** Returns whether the schema accepts a string anywhere. */
export const acceptsString = (schema: JsonSchema.JsonSchema): boolean => {
  const { type, ...parts } = resolveSchema(schema)
  return (
    [type].flat().includes("string") ||
    Object.values(parts).some((part) =>
      [part].flat().some((one) => typeof one === "object" && acceptsString(Object(one)))
    )
  )
}

/** Returns the schema and the example of a batch item. Undefined for other endpoints. */
export const batchItemOf = ({
  example,
  name,
  schema
}: Endpoint): Pick<Endpoint, "example" | "schema"> | undefined => {
  if (!name.endsWith(".createMany")) return undefined
  const [item]: ReadonlyArray<Endpoint["example"]> = Object(example)["items"]
  const { items } = Object(Object(schema)["properties"])
  return { example: item, schema: resolveSchema(items.items) }
}

/** All endpoints of the contract, so that new endpoints are attacked too. */
export const endpoints: ReadonlyArray<Endpoint> = endpointsOf(Api).map(
  ({ access, method, name, path }) => {
    const operation = document.paths[path]?.[method]
    const body = operation?.requestBody?.content["application/json"]
    const parameters = operation?.parameters ?? []
    const named = (place: string) =>
      parameters.filter((parameter) => parameter.in === place).map((parameter) => parameter.name)
    return {
      name,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, ":$1"),
      access,
      queryFields: named("query"),
      takesIdempotencyKey: named("header").some((header) => /idempotency/i.test(header)),
      schema: body && resolveSchema(body.schema),
      example: body?.example as Endpoint["example"],
      isList: named("query").includes("cursor")
    }
  }
)

const inWorkspace = "/v1/workspaces/:workspace_id"

export const isInWorkspace = ({ path }: Pick<Endpoint, "path">): boolean =>
  path.startsWith(inWorkspace)

/** Matches the ids in a path. Keys, secret names, slugs and versions do not count as ids. */
const ids = /:(?!(?:key|name|slug|version)\b)\w+/g

/**
 * Returns the ids in a path except the workspace's. Each id includes the segments before it,
 * because these determine the kind of a `:task_id`.
 */
export const idPositionsIn = (path: string): ReadonlyArray<string> => {
  const rest = path.replace(`${inWorkspace}/`, "").replace(inWorkspace, "")
  return [...rest.matchAll(ids)].map(({ 0: name, index }) => rest.slice(0, index + name.length))
}

/** Returns the path with the given ids. */
export const pathWith = (
  path: string,
  workspaceId: string,
  idAt: (place: string) => string
): string => {
  const places = idPositionsIn(path)
  let next = 0
  return path
    .replace(":workspace_id", workspaceId)
    .replace(/:key\b/, "a-key")
    .replace(/:name\b/, "A_NAME")
    .replace(/:slug\b/, `page-${workspaceId.slice(-12)}`)
    .replace(/:version\b/, "1")
    .replaceAll(ids, () => idAt(places[next++] ?? ""))
}
