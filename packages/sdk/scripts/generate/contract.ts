import { Api } from "@scheduling/domain/Api"
import { type Endpoint, endpointsOf, type ErrorClass } from "@scheduling/openapi/contract/endpoints"
import type { Operation, Parameter } from "@scheduling/openapi/model"
import { referencedName } from "@scheduling/openapi/schemas/rewriting"
import { eventStreamMediaType, openApiDocument } from "@scheduling/openapi/OpenApiDocument"
import * as SharedErrors from "@scheduling/domain/shared/Errors"
import { PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { JsonSchema } from "effect"
import { brandsOf } from "./brands.ts"
import { camel, pascal } from "./text.ts"

export type Schema = JsonSchema.JsonSchema

/** A method of the client, with the properties in which methods differ. */
export interface Method {
  readonly name: string
  readonly verb: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly isPublic: boolean
  /** True if the workspace in the path is filled in by the client and not passed as an argument. */
  readonly inWorkspace: boolean
  readonly acceptsKey: boolean
  /** True if the version is sent in a header. Other methods have it in the body. */
  readonly acceptsVersion: boolean
  readonly ids: ReadonlyArray<{
    readonly wire: string
    readonly name: string
    readonly type: string
  }>
  /** The body and the query, in parameter order. */
  readonly inputs: ReadonlyArray<Input>
  readonly output: Output
}

export interface Input {
  readonly kind: "body" | "query"
  readonly type: string
  readonly isOptional: boolean
}

export interface PageField {
  readonly name: string
  readonly type: string
}

export type Output =
  | { readonly kind: "nothing" }
  | { readonly kind: "record"; readonly type: string }
  | { readonly kind: "events"; readonly type: string }
  | { readonly kind: "pages"; readonly item: string; readonly more: ReadonlyArray<PageField> }

export interface Group {
  readonly name: string
  readonly description: string
  readonly methods: ReadonlyArray<Method>
}

/** The query of one endpoint, without the fields that all lists share. */
export interface Query {
  readonly type: string
  readonly endpoint: string
  readonly isPaged: boolean
  readonly parameters: ReadonlyArray<Parameter>
}

export interface Contract {
  readonly groups: ReadonlyArray<Group>
  readonly schemas: Readonly<Record<string, Schema>>
  readonly queries: ReadonlyArray<Query>
  readonly brands: ReadonlyMap<string, string>
  readonly errors: ReadonlyArray<ErrorClass>
}

export const readContract = (): Contract => {
  const document = openApiDocument(Api)
  const brands = brandsOf(Api)
  const endpoints = endpointsOf(Api)
  const queries: Array<Query> = []

  const itemOf = (page: string): string | undefined => {
    const fields = document.components.schemas[page]?.properties
    if (!isRecord(fields) || !("next_cursor" in fields) || !isRecord(fields.data)) return undefined
    return isRecord(fields.data.items) ? referencedName(fields.data.items) : undefined
  }

  /** The fields of a page besides its records. */
  const moreOf = (type: string): ReadonlyArray<PageField> =>
    Object.entries(document.components.schemas[type]?.properties ?? {})
      .filter(([name]) => name !== "data" && name !== "next_cursor")
      .map(([name, field]) => {
        const named = referencedName(field)
        if (named !== undefined) return { name, type: named }
        if (name === "total") return { name, type: "number | null" }
        throw new Error(`${type}.${name} has no identifier`)
      })

  const outputOf = ({ responses }: Operation, name: string): Output => {
    const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1]
    const content = success !== undefined && "content" in success ? success.content : undefined
    if (content === undefined) return { kind: "nothing" }
    const events = content[eventStreamMediaType]?.schema
    const type = referencedName(events ?? content["application/json"]?.schema ?? {})
    if (type === undefined) throw new Error(`The answer of ${name} has no identifier`)
    if (events !== undefined) return { kind: "events", type }
    const item = itemOf(type)
    return item === undefined
      ? { kind: "record", type }
      : { kind: "pages", item, more: moreOf(type) }
  }

  const bodyOf = (endpoint: Endpoint, { requestBody }: Operation): ReadonlyArray<Input> => {
    const body = requestBody?.content["application/json"]?.schema
    if (body === undefined) return []
    const type = referencedName(body)
    if (type === undefined) throw new Error(`The body of ${endpoint.name} has no identifier`)
    const { oneOf, required } = document.components.schemas[type] ?? {}
    // A PATCH without a field would be a mistake, although the contract allows it.
    const isOptional = (oneOf ?? required) === undefined && endpoint.method !== "patch"
    return [{ kind: "body", type, isOptional }]
  }

  const queryOf = (endpoint: Endpoint, operation: Operation): ReadonlyArray<Input> => {
    const parameters = operation.parameters.filter((one) => one.in === "query")
    if (parameters.length === 0) return []
    const isOptional = parameters.every(({ required }) => !required)
    const isPaged = pageFields.every((field) => parameters.some(({ name }) => name === field))
    const own = parameters.filter(({ name }) => !isPaged || !pageFields.includes(name))
    if (isPaged && own.length === 0) return [{ kind: "query", type: pageQuery, isOptional }]
    const type = `${endpoint.name.split(".").map(pascal).join("")}Query`
    queries.push({ type, endpoint: endpoint.name, isPaged, parameters: own })
    return [{ kind: "query", type, isOptional }]
  }

  const methodOf = (endpoint: Endpoint): Method => {
    const operation = document.paths[endpoint.path]?.[endpoint.method]
    if (operation === undefined) throw new Error(`${endpoint.name} is not in the document`)
    const inWorkspace = endpoint.path.includes("/{workspace_id}/")
    return {
      name: endpoint.name.slice(endpoint.name.indexOf(".") + 1),
      verb: endpoint.method.toUpperCase(),
      path: endpoint.path,
      summary: operation.summary,
      description: operation.description.replace(/^Deprecated since/m, "@deprecated Since"),
      isPublic: endpoint.access.kind === "public",
      inWorkspace,
      acceptsKey: hasHeader(operation, "idempotency-key"),
      acceptsVersion: hasHeader(operation, "if-match") && operation.requestBody === undefined,
      ids: [...endpoint.path.matchAll(/\{(\w+)\}/g)]
        .map(([, wire = ""]) => wire)
        .filter((wire) => !inWorkspace || wire !== "workspace_id")
        .map((wire) => ({
          wire,
          name: camel(wire),
          type: brands.get(`${endpoint.name}.${wire}`) ?? "string"
        })),
      inputs: [...bodyOf(endpoint, operation), ...queryOf(endpoint, operation)],
      output: outputOf(operation, endpoint.name)
    }
  }

  const groups = [...Map.groupBy(endpoints, ({ name }) => name.split(".")[0] ?? "")]
  return {
    groups: groups.map(([name, members]) => ({
      name,
      description:
        document.tags.find((tag) => tagged(document, members, tag.name))?.description ?? "",
      methods: members.map(methodOf)
    })),
    schemas: document.components.schemas,
    queries,
    brands,
    errors: allErrors(endpoints)
  }
}

/**
 * `PageQuery` is written by hand next to `Page`. Its fields are checked against the contract here.
 */
export const pageQuery = "PageQuery"
const pageFields = Object.keys(PageQuery)

const tagged = (
  { paths }: ReturnType<typeof openApiDocument>,
  [first]: ReadonlyArray<Endpoint>,
  tag: string
) => first !== undefined && paths[first.path]?.[first.method]?.tags.includes(tag) === true

/**
 * The errors that endpoints and middleware declare, and the errors that the server returns before
 * routing.
 */
const allErrors = (endpoints: ReadonlyArray<Endpoint>): ReadonlyArray<ErrorClass> => {
  const declared = endpoints.flatMap((one) => [...one.ownErrors, ...one.middlewareErrors])
  const errors = [...new Set([...declared, ...Object.values(SharedErrors).flatMap(errorClass)])]
  const codes = new Set(errors.map(({ code }) => code))
  if (codes.size < errors.length) throw new Error("Two errors of the contract share a code")
  return errors.toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1))
}

const hasHeader = ({ parameters }: Operation, header: string) =>
  parameters.some((one) => one.in === "header" && one.name.toLowerCase() === header)

const errorClass = (value: unknown): ReadonlyArray<ErrorClass> =>
  isErrorClass(value) ? [value] : []

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === "function" && "code" in value && "status" in value

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
