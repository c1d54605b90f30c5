import {
  type ApiFailure,
  HeadersTooLarge,
  InternalError,
  isApiFailure,
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
import { Cause, Context, Effect, Layer } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { isMalformedJson } from "../../core/index.ts"
import { requestId } from "../request/RequestId.ts"
import { noteRoute } from "../request/RequestRecord.ts"
import { explainSqlError, isTemporaryFailure } from "../../store/index.ts"
import { deprecationHeaders } from "./deprecationHeaders.ts"
import { issuesIn } from "./validationIssues.ts"

/**
 * Turns an endpoint's failure into its response. A request that cannot be decoded gets 404 or 422.
 */
export const ErrorShapeLayer: Layer.Layer<ErrorShape> = Layer.succeed(
  ErrorShape,
  (answer, { endpoint }) =>
    Effect.withFiber(({ context }) => {
      const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
      noteRoute(NodeHttpServerRequest.toIncomingMessage(request), endpoint.path)
      const shaped = Effect.catch(answer, (error) => {
        const answered = isApiFailure(error)
          ? errorAnswer(error, requestId(request))
          : HttpApiError.HttpApiSchemaError.is(error)
            ? rejection(error, requestId(request))
            : undefined
        return answered === undefined ? Effect.die(error) : Effect.succeed(answered)
      })
      const headers = deprecationHeaders(endpoint)
      return headers === undefined
        ? shaped
        : Effect.map(shaped, HttpServerResponse.setHeaders(headers))
    })
)

/** The response body of an error of the contract. */
export const errorBody = ({ detail }: ApiFailure, request_id: string) => ({ detail, request_id })

const errorAnswer = (error: ApiFailure, id: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(errorBody(error, id), {
    status: error.status,
    headers: error.headers
  })

/**
 * Responds with an error of the contract. It must be called within a request, because it uses the
 * request id.
 */
export const respond = (error: ApiFailure): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.withFiber(({ context }) =>
    Effect.succeed(
      errorAnswer(error, requestId(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)))
    )
  )

/**
 * Returns the response to a failure outside the contract: a lost database connection, a malformed
 * body or a bug.
 */
export const failureResponse = (
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
    return Effect.succeed(errorAnswer(error, id))
  }
  if (isTemporaryFailure(error)) {
    return Effect.andThen(
      Effect.logWarning(`the database is unavailable: ${explainSqlError(error)}`).pipe(
        Effect.annotateLogs({ request_id: id })
      ),
      Effect.succeed(errorAnswer(new Unavailable({ retry_after: 1 }), id))
    )
  }
  return Effect.andThen(
    Effect.logError("request failed", cause).pipe(Effect.annotateLogs({ request_id: id })),
    Effect.succeed(errorAnswer(new InternalError(), id))
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
 * Replaces the framework's plain-text response to a wrong content type, which is sent before any
 * handler runs.
 */
export const unsupportedMediaType = Effect.suspend(() => respond(new UnsupportedMediaType()))

/** Closes the connection, because its next bytes may belong to this request. */
export const malformedRequest = Effect.suspend(() =>
  Effect.map(respond(new MalformedRequest()), HttpServerResponse.setHeader("connection", "close"))
)

export const misdirectedRequest = Effect.suspend(() => respond(new MisdirectedRequest()))
export const originRefused = Effect.suspend(() => respond(new OriginRefused()))

/** Returns the error for input that Node's parser rejects, before there is a request. */
export const parserError = (code: string | undefined): ApiFailure =>
  code === "HPE_HEADER_OVERFLOW"
    ? new HeadersTooLarge()
    : code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? new RequestTimeout()
      : new MalformedRequest()

/**
 * Returns the error for a connection that was silent for too long. If the request is incomplete,
 * the client caused the timeout; otherwise the service did.
 */
export const stalledError = (isComplete: boolean): ApiFailure =>
  isComplete
    ? unavailable("The service did not finish the request in time. Send it again in a moment.")
    : new RequestTimeout()

/** The error that is sent before the routes exist and after they are removed. */
export const notServingError = () =>
  unavailable("The service is starting or stopping. Send the request again in a moment.")

// ---------------------------------------------------------------------------

const unavailable = (message: string) => new Unavailable({ retry_after: 1, message })

const rejection = (error: HttpApiError.HttpApiSchemaError, id: string) => {
  const { issue } = error.cause
  switch (error.kind) {
    case "Params": {
      const issues = issuesIn(issue, { whole: "The request", part: "parameter" })
      return errorAnswer(
        issues.every(({ path }) => isUserChosen(path[0]))
          ? new ValidationFailed({ issues })
          : new NotFound({ resource: missingResource(issues) }),
        id
      )
    }
    case "Payload":
      return errorAnswer(
        isMalformedJson(issue)
          ? new MalformedJson()
          : new ValidationFailed({ issues: issuesIn(issue) }),
        id
      )
    case "Query":
      return errorAnswer(
        new ValidationFailed({
          issues: issuesIn(issue, { whole: "The query", part: "parameter" })
        }),
        id
      )
    case "Headers":
      return errorAnswer(new ValidationFailed({ issues: issuesIn(issue) }), id)
    default:
      return undefined
  }
}

/** Users choose keys and names themselves, so a malformed one gets an explanation. */
const isUserChosen = (parameter: string | number | undefined): boolean =>
  parameter === "key" || parameter === "name"

/** A malformed id cannot exist: a `{key_id}` that is not a UUID is a missing `api_key`. */
const resourceOfParam: Record<string, Resource> = {
  workspace_id: "workspace",
  session_id: "session",
  user_id: "member",
  invitation_id: "invitation",
  service_account_id: "service_account",
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
