import {
  HeadersTooLarge,
  InternalError,
  MalformedJson,
  MalformedRequest,
  MethodNotAllowed,
  MisdirectedRequest,
  NotFound,
  OriginRefused,
  PayloadTooLarge,
  RequestTimeout,
  type Resource,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { Cause, Effect, Layer, Predicate, SchemaIssue } from "effect"
import { HttpServerError, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { SqlError } from "effect/sql"

/** What an endpoint fails with becomes its answer; what a request fails to be becomes 404 or 422. */
export const ErrorShapeLayer: Layer.Layer<ErrorShape> = Layer.succeed(ErrorShape, (answer) =>
  Effect.catch(answer, (error): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    if (HttpApiError.HttpApiSchemaError.is(error)) return rejection(error)
    return HttpServerRespondable.isRespondable(error)
      ? Effect.orDie(HttpServerRespondable.toResponse(error))
      : Effect.die(error)
  })
)

/** The answer to whatever got past the endpoint: a lost database, a broken body, a bug. */
export const answerTo = (
  cause: Cause.Cause<unknown>,
  id: string
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const error = Cause.squash(cause)
  if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RequestParseError") {
    return malformedRequest
  }
  if (
    error instanceof PayloadTooLarge ||
    error instanceof MalformedJson ||
    error instanceof ValidationFailed ||
    error instanceof Unavailable
  ) {
    return respond(error)
  }
  if (isDatabaseAway(error)) {
    return Effect.andThen(
      Effect.logWarning(`the database is away: ${explainSqlError(error)}`).pipe(
        Effect.annotateLogs({ request_id: id })
      ),
      respond(new Unavailable({ retry_after: 1 }))
    )
  }
  return Effect.andThen(
    Effect.logError("request failed", cause).pipe(Effect.annotateLogs({ request_id: id })),
    respond(new InternalError({ request_id: id }))
  )
}

/** The driver says what failed, and its cause why: refused, too many clients, a wrong password. */
export const explainSqlError = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message

/** Not the fault of the statement: it can be tried again. */
export const isDatabaseAway = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (databaseAway.has(error.reason._tag) || passingState.test(sqlState(error.reason.cause)))

/** Whoever holds what the statement needs held it for too long. */
export const isLockTimeout = (error: unknown): boolean =>
  SqlError.isSqlError(error) && error.reason._tag === "LockTimeoutError"

export const isRouteNotFound = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"
}

export const routeError = (allow: ReadonlyArray<string>) =>
  respond(
    allow.length === 0 ? new NotFound({ resource: "route" }) : new MethodNotAllowed({ allow })
  )

/** The framework answers a wrong content type in plain text, before any of our code runs. */
export const unsupportedMediaType = Effect.suspend(() => respond(new UnsupportedMediaType()))

/** Whatever else came on its connection may be a part of it. */
export const malformedRequest = Effect.suspend(() =>
  Effect.map(respond(new MalformedRequest()), HttpServerResponse.setHeader("connection", "close"))
)

export const misdirectedRequest = Effect.suspend(() => respond(new MisdirectedRequest()))
export const originRefused = Effect.suspend(() => respond(new OriginRefused()))

/** What Node's parser refuses never becomes a request. */
export const parserError = (code: string | undefined): RawAnswer =>
  code === "HPE_HEADER_OVERFLOW"
    ? rawAnswer(HeadersTooLarge.status, new HeadersTooLarge())
    : code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? rawAnswer(RequestTimeout.status, new RequestTimeout())
      : rawAnswer(MalformedRequest.status, new MalformedRequest())

/** Silence for too long: the client's while its request is not complete, else ours. */
export const stalled = (isComplete: boolean): RawAnswer =>
  isComplete
    ? unavailable("No answer came in time; try again in a moment.")
    : rawAnswer(RequestTimeout.status, new RequestTimeout())

/** Between listening and having routes, and after. */
export const notServing = () => unavailable("The service is starting or stopping.")

/** For a socket, without the framework. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

// ---------------------------------------------------------------------------

const rawAnswer = (
  status: number,
  { detail, headers }: { readonly detail: object; readonly headers: RawAnswer["headers"] }
): RawAnswer => ({ status, headers, body: JSON.stringify({ detail }) })

const unavailable = (message: string): RawAnswer =>
  rawAnswer(Unavailable.status, new Unavailable({ retry_after: 1, message }))

const databaseAway = new Set([
  "ConnectionError",
  "AuthenticationError",
  "StatementTimeoutError",
  "LockTimeoutError"
])

/**
 * States that pass, and that the driver has no class for: 53 is out of connections, memory or disk,
 * 57P0 starting and stopping, 25006 a primary that became a replica.
 */
const passingState = /^(?:53|57P0|25006)/

const sqlState = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : ""

const rejection = (error: HttpApiError.HttpApiSchemaError) => {
  switch (error.kind) {
    case "Params":
      return respond(new NotFound({ resource: missingResource(issuesOf(error)) }))
    case "Payload":
      return isMalformedJson(error.cause.issue)
        ? respond(new MalformedJson())
        : respond(new ValidationFailed({ issues: issuesOf(error) }))
    case "Query":
    case "Headers":
      return respond(new ValidationFailed({ issues: issuesOf(error) }))
    default:
      return Effect.die(error)
  }
}

const respond = (error: HttpServerRespondable.Respondable) =>
  Effect.orDie(HttpServerRespondable.toResponse(error))

const isMalformedJson = (issue: SchemaIssue.Issue) =>
  issue._tag === "InvalidValue" && issue.annotations?.message === "Expected a valid JSON body"

const standardIssues = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey" ? "Unknown field" : SchemaIssue.defaultLeafHook(issue)
})

/** Nobody reads more than this, and each takes fifty bytes of the answer. */
const maxIssues = 100

const issuesOf = (error: HttpApiError.HttpApiSchemaError): ValidationFailed["issues"] =>
  standardIssues(error.cause.issue)
    .issues.slice(0, maxIssues)
    .map(({ message, path = [] }) => ({
      path: path.map((segment) => {
        const key = typeof segment === "object" ? segment.key : segment
        return typeof key === "number" ? key : String(key)
      }),
      message
    }))

/** A malformed id names nothing that exists: `{key_id}` that is no UUID is a missing `api_key`. */
const resourceOfParam: Record<string, Resource> = {
  workspace_id: "workspace",
  session_id: "session",
  key_id: "api_key",
  task_id: "task",
  chain_id: "chain",
  run_id: "chain_run",
  execution_id: "execution"
}

const missingResource = ([first]: ValidationFailed["issues"]): Resource =>
  resourceOfParam[String(first?.path[0])] ?? "route"
