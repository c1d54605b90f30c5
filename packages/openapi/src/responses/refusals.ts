import { Equal, type JsonSchema, Struct } from "effect"
import {
  Forbidden,
  InsufficientScope,
  JwtOnly,
  WorkspaceForbidden
} from "@scheduling/domain/auth/AuthErrors"
import {
  MalformedJson,
  NotFound,
  OriginRefused,
  PayloadTooLarge,
  UnsupportedMediaType
} from "@scheduling/domain/shared/Errors"
import type { Endpoint, ErrorClass } from "../contract/endpoints.ts"
import { exampleOf } from "../schemas/examples.ts"
import { headerReferences } from "./headers.ts"
import type { Reference, Response } from "../model.ts"
import { isSchema, reference } from "../schemas/rewriting.ts"

type Schemas = Readonly<Record<string, JsonSchema.JsonSchema>>

const inWorkspace = ({ params }: Endpoint) => params.includes("workspace_id")
const neededRole = (access: Endpoint["access"]) => ("role" in access ? access.role : null)
const hasBody = ({ payloads }: Endpoint) => payloads.length > 0
/** Also where none is taken, to find out whether it says anything. */
const readsBody = ({ method }: Endpoint) => method !== "get"
const givesCredentials = (endpoint: Endpoint) =>
  endpoint.access.kind === "public" && hasBody(endpoint)

/**
 * A middleware declares its errors for every endpoint at once. The errors below can be answered
 * only by some endpoints. They are in the order in which a request is checked.
 */
const conditions = new Map<unknown, (endpoint: Endpoint) => boolean>([
  [OriginRefused, givesCredentials],
  // On a public endpoint only `ApiKeysRefused` declares this error.
  [JwtOnly, ({ access }) => access.kind === "jwt" || access.kind === "public"],
  [WorkspaceForbidden, (endpoint) => endpoint.access.kind !== "jwt" && inWorkspace(endpoint)],
  [InsufficientScope, ({ access }) => access.kind === "scope"],
  // A viewer is any member.
  [Forbidden, ({ access }) => !["viewer", null].includes(neededRole(access))],
  // A malformed id gets the same answer as one that does not exist.
  [NotFound, ({ params }) => params.length > 0],
  [MalformedJson, readsBody],
  [PayloadTooLarge, readsBody],
  [UnsupportedMediaType, hasBody]
])

/** The errors that this endpoint can answer, by status. */
export const refusalsOf = (endpoint: Endpoint): ReadonlyMap<number, ReadonlyArray<ErrorClass>> => {
  const possible = [...endpoint.middlewareErrors].filter(
    (error) => conditions.get(error)?.(endpoint) ?? true
  )
  const errors = new Set([...possible, ...endpoint.ownErrors])
  return new Map(
    [...Map.groupBy(errors, ({ status }) => status)].toSorted(([left], [right]) => left - right)
  )
}

/**
 * `InternalError` already ends in "Error". `Forbidden` reads better as `ForbiddenError` in a
 * client.
 */
export const componentName = ({ identifier }: ErrorClass): string =>
  identifier.endsWith("Error") ? identifier : `${identifier}Error`

const phrases: Readonly<Record<number, string>> = {
  400: "The body cannot be read",
  401: "Not authenticated",
  402: "A limit of the workspace is reached",
  403: "Refused",
  404: "Not found",
  405: "The route does not support this method",
  409: "Conflicts with the current state",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "The request is not valid",
  429: "Too many requests",
  500: "A failure of the service",
  503: "Temporarily unavailable"
}

const list = new Intl.ListFormat("en", { type: "disjunction" })

/** An error as it is sent, with the message that its class gives. */
const instance = (error: ErrorClass, schemas: Schemas, facts: Facts) => {
  const wire = schemas[componentName(error)]?.properties
  const detail = isSchema(wire) && isSchema(wire.detail) ? exampleOf(wire.detail, schemas) : {}
  const fields = isSchema(detail) ? Struct.omit(detail, ["error", "message"]) : {}
  const known = Object.entries(facts).filter(([name]) => name in fields)
  return new error({ ...fields, ...Object.fromEntries(known) })
}

type Facts = Readonly<Record<string, string>>

/**
 * What an endpoint knows about the fields of its errors: the scope it needs, and the last resource
 * in its path.
 */
const factsOf = ({ access, params }: Endpoint): Facts => {
  const noun = params.at(-1)?.replace(/_id$/, "")
  const { literals } = NotFound.fields.detail.fields.resource
  const resource = literals.find((name) => name === noun || name.endsWith(`_${noun}`))
  return {
    ...(access.kind === "scope" && { required_scope: access.scope }),
    ...(neededRole(access) !== null && { required_role: neededRole(access) ?? "viewer" }),
    ...(resource !== undefined && { resource })
  }
}

const exampleId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const wireOf = ({ detail }: InstanceType<ErrorClass>) => ({ detail, request_id: exampleId })

export const errorExample = (error: ErrorClass, schemas: Schemas) =>
  wireOf(instance(error, schemas, {}))

/** The response for all errors of one status. */
export const errorResponse = (
  errors: ReadonlyArray<ErrorClass>,
  schemas: Schemas,
  facts: Facts = {}
): Response => {
  const phrase = phrases[errors[0]?.status ?? 500] ?? "Refused"
  const instances = errors.map((error) => instance(error, schemas, facts))
  const headers = new Set(instances.flatMap((one) => Object.keys(one.headers)))
  const references = errors.map((error) => reference(componentName(error)))
  const [only] = references.length === 1 ? references : []
  return {
    description: `${phrase}: ${list.format(errors.map(({ code }) => `\`${code}\``))}.`,
    headers: headerReferences(headers),
    content: {
      "application/json": {
        schema: only ?? { anyOf: references },
        examples: Object.fromEntries(
          instances.map((one) => [one.detail.error, { value: wireOf(one) }])
        )
      }
    }
  }
}

/** The error responses of an endpoint. Responses that are the same everywhere are shared. */
export const errorResponses = (
  endpoint: Endpoint,
  {
    responses,
    schemas
  }: {
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Schemas
  }
): Readonly<Record<string, Response | Reference>> =>
  Object.fromEntries(
    [...refusalsOf(endpoint)].map(([status, errors]) => {
      const response = errorResponse(errors, schemas, factsOf(endpoint))
      const shared = Object.entries(responses).find(([, one]) => Equal.equals(one, response))
      return [
        status,
        shared === undefined ? response : { $ref: `#/components/responses/${shared[0]}` }
      ]
    })
  )
