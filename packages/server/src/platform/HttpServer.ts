import { NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, Layer, Option, Schema } from "effect"
import { HttpMiddleware, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AppConfig } from "../Config.ts"
import { Capacity, CapacityLimits, freeBytes } from "./Capacity.ts"
import { clientOf } from "./Clients.ts"
import {
  answerTo,
  isRouteNotFound,
  malformedRequest,
  misdirectedRequest,
  originRefused,
  routeError,
  unsupportedMediaType
} from "./Errors.ts"
import { makeNodeServer } from "./NodeServer.ts"
import { withCheckedBody } from "./RequestBody.ts"
import { isWellFormed } from "./RequestHead.ts"
import { hostCheck } from "./RequestHost.ts"
import { requestId } from "./RequestId.ts"
import { PageRules } from "./RequestPage.ts"
import { Stopping } from "./Stopping.ts"

export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  message: Schema.String
}) {
  static readonly because = (host: string, port: number, cause: unknown) =>
    new CannotListen({ message: `cannot listen on HOST ${host}, PORT ${port}: ${reasonOf(cause)}` })
}

/** The listening socket. Asked to stop, it gives the requests in flight 25 s to finish. */
export const HttpServerLayer: Layer.Layer<HttpServer.HttpServer, CannotListen, AppConfig> =
  Layer.effect(
    HttpServer.HttpServer,
    Effect.gen(function* () {
      const { host, port } = yield* AppConfig
      const runFork = Effect.runForkWith(yield* Effect.context())
      const server = makeNodeServer((message, request_id) =>
        runFork(Effect.logWarning(message).pipe(Effect.annotateLogs({ request_id })))
      )
      const http = yield* Effect.mapError(
        NodeHttpServer.make(() => server, { host, port, gracefulShutdownTimeout: "25 seconds" }),
        ({ cause }) => CannotListen.because(host, port, cause)
      )
      // Before the framework waits for the last connection, which it does without a bound: a client
      // that never ends its request would keep the process.
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      return http
    })
  )

const reasonOf = (cause: unknown) => {
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause && cause.code === "EADDRINUSE"
    ? "another process listens there"
    : cause.message
}

/** What is to be known of the routes before one of them is found. */
export interface RouteFacts {
  /** The methods that a URL answers. */
  readonly allowedMethods: (url: string) => ReadonlyArray<string>
  readonly givesCredentials: (url: string) => boolean
}

/** Serves the routes; request ids, the one error shape, CORS and limits apply to all of them. */
export const serve = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  routes: RouteFacts
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { allowedHosts, allowedOrigins, trustProxy } = yield* AppConfig
      const stopping = yield* Stopping
      const enveloped = envelope(answer, {
        allowedMethods: routes.allowedMethods,
        capacity: new Capacity(yield* CapacityLimits),
        isAllowedHost: hostCheck(allowedHosts),
        pages: new PageRules(routes.givesCredentials, allowedOrigins),
        stopping
      })
      yield* HttpServer.serveEffect(
        trustProxy.length === 0
          ? enveloped
          : HttpMiddleware.xForwardedHeaders({ trustedProxies: trustProxy })(enveloped)
      )
      // Added last, so that it runs first: before the server stops to accept and begins to wait.
      yield* Effect.addFinalizer(() => stopping.begin)
    })
  )

// ---------------------------------------------------------------------------

interface Edge {
  readonly allowedMethods: RouteFacts["allowedMethods"]
  readonly capacity: Capacity
  readonly isAllowedHost: (host: string | undefined) => boolean
  readonly pages: PageRules
  readonly stopping: Stopping["Service"]
}

/** Around every route, found or not. */
const envelope = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  { allowedMethods, capacity, isAllowedHost, pages, stopping }: Edge
) => {
  const stamp = (
    request: HttpServerRequest.HttpServerRequest,
    response: HttpServerResponse.HttpServerResponse
  ) =>
    HttpServerResponse.setHeaders(response, {
      "x-request-id": requestId(request),
      "x-content-type-options": "nosniff",
      ...pages.cors(request),
      // Or the client would send its next request on a connection that keeps us from stopping.
      ...(stopping.isStopping() || hasMuchToCome(request) ? { connection: "close" } : undefined)
    })

  const asked = withRequest((request) => {
    const message = NodeHttpServerRequest.toIncomingMessage(request)
    if (!isWellFormed(message)) return malformedRequest
    if (!isAllowedHost(message.headers.host) && !probes.has(request.url)) return misdirectedRequest
    // Says that the process lives, which being busy does not change.
    if (request.url === "/v1/health") return answer
    if (pages.refuses(request)) return originRefused
    const client = clientOf(message, Option.getOrElse(request.remoteAddress, noAddress))
    return capacity.admit(client, (place) => {
      place.give(message)
      const checked = withCheckedBody(request, place)
      return checked === request
        ? answer
        : Effect.provideService(answer, HttpServerRequest.HttpServerRequest, checked)
    })
  })

  const onSuccess = (response: HttpServerResponse.HttpServerResponse) =>
    withRequest((request) =>
      response.status === 415
        ? Effect.map(unsupportedMediaType, (shaped) => stamp(request, shaped))
        : Effect.succeed(stamp(request, response))
    )

  const onFailure = (cause: Cause.Cause<E>) =>
    withRequest((request) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
      if (isRouteNotFound(cause)) {
        const allow = allowedMethods(request.url)
        if (request.method === "OPTIONS" && allow.length > 0) {
          return Effect.succeed(stamp(request, preflight(allow)))
        }
        return Effect.map(routeError(allow), (response) => stamp(request, response))
      }
      return Effect.map(answerTo(cause, requestId(request)), (response) => stamp(request, response))
    })

  return Effect.matchCauseEffect(asked, { onFailure, onSuccess })
}

const noAddress = () => ""

/**
 * Whether more of a body may come than is worth reading for nothing. The framework would read it up
 * to 256 KiB to keep the connection: a hundred clients who sent as much, again and again, kept the
 * node from everything else. Of chunks nobody knows, and it closes the connection if there are more.
 */
const hasMuchToCome = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const { complete, headers } = NodeHttpServerRequest.toIncomingMessage(request)
  return (
    !complete &&
    (headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > freeBytes)
  )
}

const withRequest = <A, E, R>(
  f: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.withFiber((fiber) =>
    f(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest))
  )

/** What asks these knows the machine by an address, and learns nothing from them. */
const probes: ReadonlySet<string> = new Set(["/v1/health", "/v1/ready"])

const preflight = (allow: ReadonlyArray<string>) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      allow: allow.join(", "),
      "access-control-allow-methods": allow.join(", "),
      "access-control-allow-headers": "authorization, content-type, idempotency-key, x-request-id",
      "access-control-max-age": "86400"
    }
  })
