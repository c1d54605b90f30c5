import { Context, Option, type Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiGroup, type HttpApiMiddleware } from "effect/http-api"
import { Access, type AccessRule } from "@scheduling/domain/shared/Access"
import { Deprecated, type Deprecation } from "@scheduling/domain/shared/Deprecated"
import { Internal } from "@scheduling/domain/shared/Internal"
import type { Method } from "../model.ts"
import { subschemas } from "./subschemas.ts"

/** An error class created by `ApiError`. */
export interface ErrorClass {
  new (fields: object): {
    readonly detail: { readonly error: string; readonly message: string }
    readonly headers: Readonly<Record<string, string>>
  }
  readonly code: string
  readonly status: number
  readonly identifier: string
}

/** The properties of an endpoint that the document needs, read from its declaration. */
export interface Endpoint {
  readonly name: string
  readonly method: Method
  readonly path: string
  readonly access: AccessRule
  /** Only for the control panel; see `Internal`. */
  readonly isInternal: boolean
  readonly deprecation: Deprecation | undefined
  readonly params: ReadonlyArray<string>
  readonly query: Schema.Top | undefined
  readonly headers: Schema.Top | undefined
  readonly payloads: ReadonlyArray<Schema.Top>
  readonly successes: ReadonlyArray<Schema.Top>
  /** Errors that the endpoint itself declares. */
  readonly ownErrors: ReadonlySet<ErrorClass>
  /** Errors that a middleware declares for every endpoint that it guards. */
  readonly middlewareErrors: ReadonlySet<ErrorClass>
}

export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Endpoint> => {
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, middleware }) => {
      const name = `${group.identifier}.${endpoint.identifier}`
      endpoints.push({
        name,
        method: documentedMethod(endpoint.method),
        path: endpoint.path.replaceAll(/:(\w+)/g, "{$1}"),
        access: Option.getOrThrowWith(
          Context.getOption(endpoint.annotations, Access),
          () => new Error(`${name} has no Access annotation`)
        ),
        isInternal: Option.isSome(Context.getOption(endpoint.annotations, Internal)),
        deprecation: Option.getOrUndefined(Context.getOption(endpoint.annotations, Deprecated)),
        params: [...endpoint.path.matchAll(/:(\w+)/g)].map(([, param = ""]) => param),
        query: endpoint.query,
        headers: endpoint.headers,
        payloads: [...endpoint.payload.values()].flatMap(({ schemas }) => schemas),
        successes: [...endpoint.success],
        ownErrors: new Set([...endpoint.error].map(errorClass)),
        middlewareErrors: errorsOfMiddleware(middleware)
      })
    }
  })
  return endpoints
}

/**
 * Returns the schemas of all bodies: of requests, of responses, and of requests that the service
 * makes.
 */
export const bodySchemas = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Schema.Constraint> => [
  ...endpointsOf(api).flatMap(({ payloads, successes }) => [...payloads, ...successes]),
  ...Option.getOrElse(Context.getOption(api.annotations, HttpApi.AdditionalSchemas), () => [])
]

export const errorsOfMiddleware = (
  middleware: Iterable<Pick<HttpApiMiddleware.AnyService, "error">>
): ReadonlySet<ErrorClass> =>
  new Set([...middleware].flatMap(({ error }) => [...error].map(errorClass)))

/**
 * Returns true if a response with this schema contains a secret. Secrets are `Redacted` until they
 * are sent.
 */
export const holdsSecret = ({ ast }: Schema.Top): boolean =>
  subschemas(ast).some(
    (part) => SchemaAST.isDeclaration(part) && part.annotations?.expected === "Redacted"
  )

/**
 * Returns the error class that was declared as a schema. Endpoints wrap these classes in codecs.
 */
const errorClass = (schema: Schema.Top): ErrorClass => {
  const declared: unknown = "schema" in schema ? schema.schema : schema
  if (isErrorClass(declared)) return declared
  throw new Error(
    `${SchemaAST.resolveIdentifier(schema.ast) ?? "An error"} was not created by ApiError`
  )
}

const isErrorClass = (schema: unknown): schema is ErrorClass =>
  typeof schema === "function" && "code" in schema && "status" in schema

const methods: ReadonlyArray<Method> = [
  "get",
  "post",
  "put",
  "patch",
  "delete",
  "head",
  "options",
  "trace"
]

const documentedMethod = (name: string): Method => {
  const method = methods.find((one) => one === name.toLowerCase())
  if (method !== undefined) return method
  throw new Error(`OpenAPI 3.1 has no operation for ${name}`)
}
