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
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import type { Resource } from "@scheduling/domain/shared/Resource"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, Layer, SchemaIssue } from "effect"
import {
  HttpServerError,
  HttpServerRequest,
  HttpServerRespondable,
  HttpServerResponse
} from "effect/http"
import { HttpApiError } from "effect/http-api"
import { isMalformedJson } from "../../core/index.ts"
import { noteRoute } from "../request/RequestRecord.ts"
import { explainSqlError, isDatabaseAway } from "../../store/index.ts"

/**
 * Turns an endpoint's failure into its answer. A request that cannot be decoded becomes 404 or 422.
 */
export const ErrorShapeLayer: Layer.Layer<ErrorShape> = Layer.succeed(
  ErrorShape,
  (answer, { endpoint }) =>
    Effect.withFiber(({ context }) => {
      const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
      noteRoute(NodeHttpServerRequest.toIncomingMessage(request), endpoint.path)
      return Effect.catch(answer, (error): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
        if (HttpApiError.HttpApiSchemaError.is(error)) return rejection(error)
        return HttpServerRespondable.isRespondable(error)
          ? Effect.orDie(HttpServerRespondable.toResponse(error))
          : Effect.die(error)
      })
    })
)

/** The answer to a failure outside the contract: a lost database, a malformed body or a bug. */
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

export const isRouteNotFound = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"
}

export const routeError = (allow: ReadonlyArray<string>) =>
  respond(
    allow.length === 0 ? new NotFound({ resource: "route" }) : new MethodNotAllowed({ allow })
  )

/**
 * Replaces the framework's plain-text answer to a wrong content type, which precedes all our code.
 */
export const unsupportedMediaType = Effect.suspend(() => respond(new UnsupportedMediaType()))

/** Closes the connection, because its next bytes may be a part of this request. */
export const malformedRequest = Effect.suspend(() =>
  Effect.map(respond(new MalformedRequest()), HttpServerResponse.setHeader("connection", "close"))
)

export const misdirectedRequest = Effect.suspend(() => respond(new MisdirectedRequest()))
export const originRefused = Effect.suspend(() => respond(new OriginRefused()))

/** For input that Node's parser refuses, which never becomes a request. */
export const parserError = (code: string | undefined): RawAnswer =>
  code === "HPE_HEADER_OVERFLOW"
    ? rawAnswer(HeadersTooLarge.status, new HeadersTooLarge())
    : code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? rawAnswer(RequestTimeout.status, new RequestTimeout())
      : rawAnswer(MalformedRequest.status, new MalformedRequest())

/**
 * The connection was silent for too long. An incomplete request is the client's fault, a complete
 * one ours.
 */
export const stalled = (isComplete: boolean): RawAnswer =>
  isComplete
    ? unavailable("No answer came in time; try again in a moment.")
    : rawAnswer(RequestTimeout.status, new RequestTimeout())

/** Sent before the routes exist and after they are gone. */
export const notServing = () => unavailable("The service is starting or stopping.")

/** An answer that is written to a socket without the framework. */
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

const rejection = (error: HttpApiError.HttpApiSchemaError) => {
  switch (error.kind) {
    case "Params": {
      const issues = issuesOf(error)
      return respond(
        issues.every(({ path }) => path[0] === "key")
          ? new ValidationFailed({ issues })
          : new NotFound({ resource: missingResource(issues) })
      )
    }
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

const anObject = "Expected an object"

/** Bodies are a union, even a single one, and the default message would name all its members. */
const isOfNoBody = (issue: SchemaIssue.Issue) =>
  issue._tag === "AnyOf" &&
  issue.issues.length === 0 &&
  issue.ast._tag === "Union" &&
  issue.ast.types.every(({ _tag }) => _tag === "Objects")

const standardIssues = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey"
      ? "Unknown field"
      : issue._tag === "InvalidType" && issue.ast._tag === "Objects"
        ? anObject
        : SchemaIssue.defaultLeafHook(issue)
})

/** More issues help nobody, and each takes fifty bytes of the answer. */
const maxIssues = 100

const issuesOf = (error: HttpApiError.HttpApiSchemaError): ValidationFailed["issues"] =>
  isOfNoBody(error.cause.issue) ? [{ path: [], message: anObject }] : issuesIn(error.cause.issue)

/** The problems of an input, as answers show them. */
export const issuesIn = (issue: SchemaIssue.Issue): ValidationFailed["issues"] =>
  standardIssues(issue)
    .issues.slice(0, maxIssues)
    .map(({ message, path = [] }) => ({
      path: path.map((segment) => {
        const key = typeof segment === "object" ? segment.key : segment
        return typeof key === "number" ? key : String(key)
      }),
      message
    }))

/**
 * A malformed id names nothing that exists: a `{key_id}` that is not a UUID is a missing `api_key`.
 */
const resourceOfParam: Record<string, Resource> = {
  workspace_id: "workspace",
  session_id: "session",
  user_id: "member",
  invitation_id: "invitation",
  queue_id: "queue",
  key_id: "api_key",
  task_id: "task",
  chain_id: "chain",
  channel_id: "notification_channel",
  delivery_id: "notification_delivery",
  run_id: "chain_run",
  execution_id: "execution",
  monitor_id: "monitor",
  incident_id: "incident",
  worker_id: "worker"
}

const missingResource = ([first]: ValidationFailed["issues"]): Resource =>
  resourceOfParam[String(first?.path[0])] ?? "route"
