import { NodeHttpPlatform, NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, Layer, Option, Schema } from "effect"
import { HttpMiddleware, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AppConfig, exportsMetrics } from "../core/index.ts"
import { Capacity, CapacityLimits, uncountedBodyBytes } from "./fairness/Capacity.ts"
import { clientOf } from "./fairness/Clients.ts"
import {
  failureResponse,
  isRouteNotFound,
  malformedRequestResponse,
  misdirectedRequestResponse,
  originRefusedResponse,
  unknownRouteError,
  unsupportedMediaTypeResponse
} from "./answers/Errors.ts"
import { compressResponse } from "./answers/compressResponse.ts"
import { makeNodeServer } from "./server/NodeServer.ts"
import { withCheckedBody } from "./request/RequestBody.ts"
import { isWellFormed } from "./request/RequestHead.ts"
import { hostCheck } from "./request/RequestHost.ts"
import { requestId } from "./request/RequestId.ts"
import { rateLimitHeaders } from "./answers/RateLimitHeaders.ts"
import { type RequestRecorder, makeRequestRecorder } from "./request/RequestRecorder.ts"
import { CrossOriginRules } from "./request/CrossOriginRules.ts"
import { Shutdown } from "./Shutdown.ts"
import { listenProblem } from "./server/listenProblem.ts"

export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  message: Schema.String
}) {
  static readonly because = (host: string, port: number, cause: unknown) =>
    new CannotListen({
      message: `cannot listen on HOST ${host}, PORT ${port}: ${listenProblem(cause)}`
    })
}

/** The listening socket. On shutdown, requests in flight have 25 s to finish. */
export const HttpServerLayer: Layer.Layer<HttpServer.HttpServer, CannotListen, AppConfig> =
  Layer.effect(
    HttpServer.HttpServer,
    Effect.gen(function* () {
      const { host, port } = yield* AppConfig
      const runFork = Effect.runForkWith(yield* Effect.context())
      const server = makeNodeServer((message, request_id) =>
        runFork(Effect.logWarning(message).pipe(Effect.annotateLogs({ request_id })))
      )
      const cannotListen = (cause: unknown) => CannotListen.because(host, port, cause)
      const http = yield* Effect.mapError(
        NodeHttpServer.make(() => server, { host, port, gracefulShutdownTimeout: "25 seconds" }),
        ({ cause }) => cannotListen(cause)
      )
      // This runs before the framework waits for the last connection. The wait has no timeout, so a
      // client that never completes its request would keep the process alive.
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      return http
    })
  )

/** Details of a URL that are needed before routing. */
export interface RouteDetails {
  /** The methods that a URL supports. */
  readonly allowedMethods: (url: string) => ReadonlyArray<string>
  readonly givesCredentials: (url: string) => boolean
}

/**
 * Serves the routes and adds request ids, the common error format, CORS and limits to all of them.
 */
export const serveRoutes = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  routes: RouteDetails
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const config = yield* AppConfig
      const { allowedHosts, allowedOrigins, publicUrl, rateLimit, trustProxy } = config
      const stopping = yield* Shutdown
      const enveloped = envelope(answer, {
        allowedMethods: routes.allowedMethods,
        capacity: new Capacity(yield* CapacityLimits),
        records: yield* makeRequestRecorder({
          isMetered: exportsMetrics(config),
          isLogged: config.logRequests === "on"
        }),
        isAllowedHost: hostCheck(allowedHosts, publicUrl),
        pages: new CrossOriginRules(routes.givesCredentials, allowedOrigins),
        rateLimit: rateLimitHeaders(rateLimit),
        stopping
      })
      yield* HttpServer.serveEffect(
        trustProxy.length === 0
          ? enveloped
          : HttpMiddleware.xForwardedHeaders({ trustedProxies: trustProxy })(enveloped)
      )
      // This finalizer is added last, so that it runs first, before the server stops accepting
      // connections and waits.
      yield* Effect.addFinalizer(() => stopping.begin)
    })
  ).pipe(Layer.provide(NodeHttpPlatform.layer))

interface Edge {
  readonly allowedMethods: RouteDetails["allowedMethods"]
  readonly capacity: Capacity
  readonly isAllowedHost: (host: string | undefined) => boolean
  readonly pages: CrossOriginRules
  readonly records: RequestRecorder
  readonly rateLimit: ReturnType<typeof rateLimitHeaders>
  readonly stopping: Shutdown["Service"]
}

/**
 * Handles what all requests have in common: request ids, log lines, limits, and responses to
 * errors.
 */
const envelope = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  { allowedMethods, capacity, isAllowedHost, pages, rateLimit, records, stopping }: Edge
) => {
  const addStandardHeaders = (
    request: HttpServerRequest.HttpServerRequest,
    response: HttpServerResponse.HttpServerResponse
  ) =>
    HttpServerResponse.setHeaders(response, {
      "x-request-id": requestId(request),
      "x-content-type-options": "nosniff",
      ...(isPrivate(request, response) ? { "cache-control": "no-store" } : undefined),
      ...pages.cors(request),
      ...rateLimit(NodeHttpServerRequest.toIncomingMessage(request)),
      // Without this header, the client would send its next request on the same connection and
      // delay the shutdown.
      ...(stopping.isStopping() || hasLongRemainder(request) ? { connection: "close" } : undefined)
    })

  /** Compresses, counts and logs the response. */
  const finish = (
    request: HttpServerRequest.HttpServerRequest,
    response: HttpServerResponse.HttpServerResponse
  ) => {
    const written = records.end(request, response.status)
    const answered = Effect.succeed(addStandardHeaders(request, response))
    // Only responses to GET are compressed, because responses to other methods may contain
    // credentials.
    const stamped = request.method === "GET" ? compressResponse(answered) : answered
    return written === undefined ? stamped : Effect.andThen(written, stamped)
  }

  const asked = withRequest((request) => {
    records.begin(request)
    const message = NodeHttpServerRequest.toIncomingMessage(request)
    if (!isWellFormed(message)) return malformedRequestResponse
    if (!isAllowedHost(message.headers.host) && !probes.has(request.url))
      return misdirectedRequestResponse
    // Liveness probes must succeed even when the node is full.
    if (request.url === "/v1/health") return answer
    if (pages.refuses(request)) return originRefusedResponse
    const client = clientOf(message, Option.getOrElse(request.remoteAddress, noAddress))
    return capacity.admit(client, (permit) => {
      permit.give(message)
      const checked = withCheckedBody(request, permit)
      return checked === request
        ? answer
        : Effect.provideService(answer, HttpServerRequest.HttpServerRequest, checked)
    })
  })

  const onSuccess = (response: HttpServerResponse.HttpServerResponse) =>
    withRequest((request) =>
      response.status === 415
        ? Effect.flatMap(unsupportedMediaTypeResponse, (shaped) => finish(request, shaped))
        : finish(request, response)
    )

  const onFailure = (cause: Cause.Cause<E>) =>
    withRequest((request) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
      if (isRouteNotFound(cause)) {
        const allow = allowedMethods(request.url)
        if (request.method === "OPTIONS" && allow.length > 0) {
          return finish(request, preflight(allow))
        }
        return Effect.flatMap(unknownRouteError(allow), (response) => finish(request, response))
      }
      return Effect.flatMap(failureResponse(cause, requestId(request)), (response) =>
        finish(request, response)
      )
    })

  return Effect.matchCauseEffect(asked, { onFailure, onSuccess })
}

const noAddress = () => ""

/** API responses depend on the credential, so no cache may store them. */
const isPrivate = (
  { url }: HttpServerRequest.HttpServerRequest,
  { headers }: HttpServerResponse.HttpServerResponse
): boolean => url.startsWith("/v1/") && headers["cache-control"] === undefined

/**
 * Returns true if the rest of an unread body is long. To keep the connection, the framework would
 * read up to 256 KiB of it, and a hundred clients that repeat such requests would block the node.
 * The length of a chunked body is unknown, so its connection is always closed.
 */
const hasLongRemainder = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const { complete, headers } = NodeHttpServerRequest.toIncomingMessage(request)
  return (
    !complete &&
    (headers["transfer-encoding"] !== undefined ||
      Number(headers["content-length"]) > uncountedBodyBytes)
  )
}

const withRequest = <A, E, R>(
  f: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.withFiber((fiber) =>
    f(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest))
  )

/**
 * Paths that are served with any `Host` header, because probes address the node by its IP address.
 * The responses reveal nothing but the health of the node.
 */
const probes: ReadonlySet<string> = new Set(["/v1/health", "/v1/ready"])

const preflight = (allow: ReadonlyArray<string>) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      allow: allow.join(", "),
      "access-control-allow-methods": allow.join(", "),
      "access-control-allow-headers":
        "authorization, content-type, idempotency-key, if-match, last-event-id, x-request-id",
      "access-control-max-age": "86400"
    }
  })
