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
import { recordRoute } from "../request/RequestRecorder.ts"
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
      recordRoute(NodeHttpServerRequest.toIncomingMessage(request), endpoint.path)
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
export const respondWithError = (
  error: ApiFailure
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
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
    return malformedRequestResponse
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

export const unknownRouteError = (allow: ReadonlyArray<string>) =>
  respondWithError(
    allow.length === 0 ? new NotFound({ resource: "route" }) : new MethodNotAllowed({ allow })
  )

/**
 * Replaces the framework's plain-text response to a wrong content type, which is sent before any
 * handler runs.
 */
export const unsupportedMediaTypeResponse = Effect.suspend(() =>
  respondWithError(new UnsupportedMediaType())
)

/**
 * Responds to a malformed request and closes the connection, because the next bytes on the
 * connection may belong to this request.
 */
export const malformedRequestResponse = Effect.suspend(() =>
  Effect.map(
    respondWithError(new MalformedRequest()),
    HttpServerResponse.setHeader("connection", "close")
  )
)

export const misdirectedRequestResponse = Effect.suspend(() =>
  respondWithError(new MisdirectedRequest())
)
export const originRefusedResponse = Effect.suspend(() => respondWithError(new OriginRefused()))

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
export const silentConnectionError = (isComplete: boolean): ApiFailure =>
  isComplete
    ? unavailable("The service did not finish the request in time. Send it again in a moment.")
    : new RequestTimeout()

/** Creates the error that is sent before the routes exist and after they are removed. */
export const notServingError = () =>
  unavailable("The service is starting or stopping. Send the request again in a moment.")

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

/**
 * Returns whether users choose the value of the parameter. A malformed key or name gets an
 * explanation, while a malformed id gets the same response as an unknown id.
 */
const isUserChosen = (parameter: string | number | undefined): boolean =>
  parameter === "key" || parameter === "name"

/**
 * The resource that each path parameter identifies. A malformed id belongs to no record, so a
 * `{key_id}` that is not a UUID gets the response for an `api_key` that does not exist.
 */
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
