import { Equal, type JsonSchema, Struct } from "effect"
import {
  Forbidden,
  InsufficientScope,
  JwtOnly,
  PersonOnly,
  WorkspaceForbidden
} from "@scheduling/domain/auth/AuthErrors"
import {
  MalformedJson,
  NotFound,
  OriginRefused,
  PayloadTooLarge,
  UnsupportedMediaType
} from "@scheduling/domain/shared/Errors"
import { Authentication } from "@scheduling/domain/auth/Authentication"
import { type Endpoint, type ErrorClass, errorsOfMiddleware } from "../contract/endpoints.ts"
import { exampleOf } from "../schemas/examples.ts"
import { headerReferences } from "./headers.ts"
import type { Reference, Response } from "../model.ts"
import { isSchema, reference } from "../schemas/rewriting.ts"

type Schemas = Readonly<Record<string, JsonSchema.JsonSchema>>

const inWorkspace = ({ params }: Endpoint) => params.includes("workspace_id")
const neededRole = (access: Endpoint["access"]) => ("role" in access ? access.role : null)
const hasBody = ({ payloads }: Endpoint) => payloads.length > 0
/**
 * Returns true if the service reads the body. It also does so for an endpoint without a payload, to
 * check that the body is empty.
 */
const readsBody = ({ method }: Endpoint) => method !== "get"
const givesCredentials = (endpoint: Endpoint) =>
  endpoint.access.kind === "public" && hasBody(endpoint)

/**
 * A middleware declares its errors for all endpoints. The errors below are possible only for some
 * endpoints. They are in the order in which a request is checked.
 */
const conditions = new Map<unknown, (endpoint: Endpoint) => boolean>([
  [OriginRefused, givesCredentials],
  // On a public endpoint only `ApiKeysRefused` declares this error.
  [JwtOnly, ({ access }) => access.kind === "jwt" || access.kind === "public"],
  [PersonOnly, ({ access }) => access.kind === "jwt" && access.isForPeople],
  [WorkspaceForbidden, (endpoint) => endpoint.access.kind !== "jwt" && inWorkspace(endpoint)],
  // The sections of a document decide which of the scopes are needed.
  [InsufficientScope, ({ access }) => access.kind === "scope" || access.kind === "any_scope"],
  // Every member is at least a viewer.
  [Forbidden, ({ access }) => !["viewer", null].includes(neededRole(access))],
  // A malformed id leads to the same response as an unknown id.
  [NotFound, ({ params }) => params.length > 0],
  [MalformedJson, readsBody],
  [PayloadTooLarge, readsBody],
  [UnsupportedMediaType, hasBody]
])

/** Returns the possible errors of an endpoint, by status. */
export const declaredErrors = (
  endpoint: Endpoint
): ReadonlyMap<number, ReadonlyArray<ErrorClass>> => {
  const possible = [...endpoint.middlewareErrors].filter(
    (error) => conditions.get(error)?.(endpoint) ?? true
  )
  const errors = new Set([...possible, ...endpoint.ownErrors])
  return new Map(
    [...Map.groupBy(errors, ({ status }) => status)].toSorted(([left], [right]) => left - right)
  )
}

/**
 * Returns the component name of an error. `InternalError` already ends in "Error"; `Forbidden`
 * becomes `ForbiddenError`, which reads better in a client.
 */
export const errorComponentName = ({ identifier }: ErrorClass): string =>
  identifier.endsWith("Error") ? identifier : `${identifier}Error`

const phrases: Readonly<Record<number, string>> = {
  400: "The body cannot be read",
  401: "Not authenticated",
  402: "A limit of the workspace has been reached",
  403: "Not allowed",
  404: "Not found",
  405: "The route does not support this method",
  409: "Conflicts with the current state",
  412: "The record has changed",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "The request is not valid",
  429: "Too many requests",
  500: "An internal error",
  503: "Temporarily unavailable"
}

const list = new Intl.ListFormat("en", { type: "disjunction" })

/** Creates an example error with the message of its class. */
const instance = (error: ErrorClass, schemas: Schemas) => {
  const wire = schemas[errorComponentName(error)]?.properties
  const detail = isSchema(wire) && isSchema(wire.detail) ? exampleOf(wire.detail, schemas) : {}
  return new error(isSchema(detail) ? Struct.omit(detail, ["error", "message"]) : {})
}

const exampleId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const wireOf = ({ detail }: InstanceType<ErrorClass>) => ({ detail, request_id: exampleId })

export const errorExample = (error: ErrorClass, schemas: Schemas) =>
  wireOf(instance(error, schemas))

/** Describes the response for all errors with one status. */
const errorResponse = (errors: ReadonlyArray<ErrorClass>, schemas: Schemas): Response => {
  const phrase = phrases[errors[0]?.status ?? 500] ?? "Rejected"
  const instances = errors.map((error) => instance(error, schemas))
  const headers = new Set(instances.flatMap((one) => Object.keys(one.headers)))
  const references = errors.map((error) => reference(errorComponentName(error)))
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

const unauthorized = [...errorsOfMiddleware([Authentication])].filter(
  ({ status }) => status === 401
)

const responseName = (errors: ReadonlyArray<ErrorClass>): string => {
  const [only] = errors.length === 1 ? errors : []
  if (only !== undefined) return errorComponentName(only)
  return Equal.equals(errors, unauthorized)
    ? "Unauthorized"
    : errors.map(({ identifier }) => identifier).join("Or")
}

/** Returns the error responses of all endpoints, by name. */
export const sharedResponses = (
  endpoints: ReadonlyArray<Endpoint>,
  schemas: Schemas
): Readonly<Record<string, Response>> =>
  Object.fromEntries(
    endpoints
      .flatMap((endpoint) => [...declaredErrors(endpoint).values()])
      .map((errors) => [responseName(errors), errorResponse(errors, schemas)])
  )

/** Returns the error responses of an endpoint. */
export const errorResponses = (endpoint: Endpoint): Readonly<Record<string, Reference>> =>
  Object.fromEntries(
    [...declaredErrors(endpoint)].map(([status, errors]) => [
      status,
      { $ref: `#/components/responses/${responseName(errors)}` }
    ])
  )
