import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "@scheduling/openapi/OpenApiDocument"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import { endpointsOf } from "@scheduling/openapi/contract/endpoints"
import type { JsonSchema } from "effect"

/** An endpoint as an attacker reads it in the reference. */
export interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly access: AccessRule
  readonly queryFields: ReadonlyArray<string>
  readonly takesIdempotencyKey: boolean
  /** Of its body; none where it takes no body. */
  readonly schema: JsonSchema.JsonSchema | undefined
  /** A body that it takes and that changes something. */
  readonly example: Readonly<Record<string, unknown>> | undefined
  /** Whether it answers page by page. */
  readonly isList: boolean
}

const document = openApiDocument(Api)

export const schemas = document.components.schemas

/** What a `$ref` stands for; of a union, the member that its example shows. */
export const resolved = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  if (typeof schema.$ref === "string") {
    return resolved(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})
  }
  const { mapping, propertyName } = Object(schema["discriminator"])
  return mapping === undefined
    ? schema
    : resolved({ $ref: mapping[Object([schema.examples].flat()[0])[propertyName]] })
}

/** The names of what an object may hold, also of what only responses have. */
export const propertiesOf = (schema: JsonSchema.JsonSchema | undefined): ReadonlyArray<string> =>
  Object.keys(Object(schema?.["properties"]))

/** The fields that a body sets, and those that it may repeat from a response, which are ignored. */
export const fieldsOf = (schema: JsonSchema.JsonSchema | undefined) => {
  const fields = Object.entries<JsonSchema.JsonSchema>(Object(schema?.["properties"]))
  const isIgnored = ([, field]: (typeof fields)[number]) => field["readOnly"] === true
  return {
    taken: fields.filter((field) => !isIgnored(field)),
    ignored: fields.filter(isIgnored).map(([name]) => name)
  }
}

/** Whether it is any JSON: nothing but words says what it may be. */
export const takesAnything = (schema: JsonSchema.JsonSchema): boolean =>
  Object.keys(schema).every((part) => part === "description" || part === "examples")

/** Whether text may be somewhere in it. */
export const takesText = (schema: JsonSchema.JsonSchema): boolean => {
  const { type, ...parts } = resolved(schema)
  return (
    [type].flat().includes("string") ||
    Object.values(parts).some((part) =>
      [part].flat().some((one) => typeof one === "object" && takesText(Object(one)))
    )
  )
}

/** What a batch consists of; nothing of what takes one thing at a time. */
export const itemOf = ({
  example,
  name,
  schema
}: Endpoint): Pick<Endpoint, "example" | "schema"> | undefined => {
  if (!name.endsWith(".createMany")) return undefined
  const [item]: ReadonlyArray<Endpoint["example"]> = Object(example)["items"]
  const { items } = Object(Object(schema)["properties"])
  return { example: item, schema: resolved(items.items) }
}

/** Every endpoint of the contract, so that one that is added is attacked like the others. */
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
      schema: body && resolved(body.schema),
      example: body?.example as Endpoint["example"],
      isList: named("query").includes("cursor")
    }
  }
)

const inWorkspace = "/v1/workspaces/:workspace_id"

export const isInWorkspace = ({ path }: Pick<Endpoint, "path">): boolean =>
  path.startsWith(inWorkspace)

/** A key, the name of a secret, a slug and a version are no ids of anything. */
const ids = /:(?!(?:key|name|slug|version)\b)\w+/g

/**
 * The ids in a path other than the workspace's, each as the way to it: what a `:task_id` is the
 * id of depends on what it comes after.
 */
export const placesIn = (path: string): ReadonlyArray<string> => {
  const rest = path.replace(`${inWorkspace}/`, "").replace(inWorkspace, "")
  return [...rest.matchAll(ids)].map(({ 0: name, index }) => rest.slice(0, index + name.length))
}

/** The path with ids in their places. */
export const pathWith = (
  path: string,
  workspaceId: string,
  idAt: (place: string) => string
): string => {
  const places = placesIn(path)
  let next = 0
  return path
    .replace(":workspace_id", workspaceId)
    .replace(/:key\b/, "a-key")
    .replace(/:name\b/, "A_NAME")
    .replace(/:slug\b/, `page-${workspaceId.slice(-12)}`)
    .replace(/:version\b/, "1")
    .replaceAll(ids, () => idAt(places[next++] ?? ""))
}
