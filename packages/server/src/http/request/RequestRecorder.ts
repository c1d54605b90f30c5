import { NodeHttpServerRequest } from "@effect/platform-node"
import { Clock, Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import {
  elapsedMs,
  type Histogram,
  makeSpanId,
  makeTraceId,
  Meters,
  type NodeMeters,
  readTraceparent,
  secondsBounds,
  type Tracer,
  Tracing
} from "../../core/index.ts"
import { requestId } from "./RequestId.ts"

/**
 * The keys of the data that is stored on the request object itself. A long-lived map would cause
 * requests to be promoted to the garbage collector's old generation.
 */
const route = Symbol("the route of a request")
const beginTime = Symbol("when a request began")

interface RecordedRequest {
  [route]?: string
  [beginTime]?: number
}

/** Stores the route of a request on it, for the metrics and the access log. */
export const recordRoute = (message: object, path: string): void => {
  ;(message as RecordedRequest)[route] = path
}

export interface RequestRecorder {
  readonly begin: (request: HttpServerRequest.HttpServerRequest) => void
  /**
   * Counts the request and creates its span. Returns an effect that logs it, if requests are
   * logged.
   */
  readonly end: (
    request: HttpServerRequest.HttpServerRequest,
    status: number
  ) => Effect.Effect<void> | undefined
}

/** Counts requests by route, and writes the access log. Does nothing if both are disabled. */
export const makeRequestRecorder = Effect.fnUntraced(function* (options: {
  readonly isMetered: boolean
  readonly isLogged: boolean
}): Effect.fn.Return<RequestRecorder> {
  if (!options.isMetered && !options.isLogged) return { begin: () => {}, end: () => undefined }
  const clock = yield* Clock.Clock
  const tracer = yield* Tracing
  const meter = new RequestMeter(yield* Meters)
  return {
    begin: (request) => {
      const message = recordOf(request)
      message[beginTime] = elapsedMs(clock)
    },
    end: (request, status) => {
      const message = recordOf(request)
      const now = elapsedMs(clock)
      const took = now - (message[beginTime] ?? now)
      const path = message[route] ?? unrecordedRouteName(request.url)
      if (options.isMetered) meter.count(methodOf(request.method), path, status, took / 1_000)
      if (tracer !== undefined) {
        const endMs = clock.currentTimeMillisUnsafe()
        traceRequest(tracer, request, { path, status, startMs: endMs - took, endMs })
      }
      if (!options.isLogged) return undefined
      return Effect.logInfo("request").pipe(
        Effect.annotateLogs({
          request_id: requestId(request),
          method: methodOf(request.method),
          path: loggedPath(request.url, path),
          status,
          duration_ms: Math.round(took * 10) / 10,
          ip: Option.getOrNull(request.remoteAddress)
        })
      )
    }
  }
})

interface Traced {
  readonly path: string
  readonly status: number
  readonly startMs: number
  readonly endMs: number
}

/** Creates the span of a request, as part of the trace in its headers. */
const traceRequest = (
  tracer: Tracer,
  request: HttpServerRequest.HttpServerRequest,
  { endMs, path, startMs, status }: Traced
): void => {
  const client = readTraceparent(request.headers["traceparent"])
  const method = methodOf(request.method)
  tracer.span({
    traceId: client?.traceId ?? makeTraceId(),
    spanId: makeSpanId(),
    parentSpanId: client?.spanId,
    name: `${method} ${path}`,
    kind: "server",
    startMs,
    endMs,
    attributes: {
      "http.request.method": method,
      "http.route": path,
      "http.response.status_code": status,
      "scheduling.request_id": requestId(request)
    },
    error: status >= 500 ? `responded with ${status}` : undefined
  })
}

const recordOf = (request: HttpServerRequest.HttpServerRequest) =>
  NodeHttpServerRequest.toIncomingMessage(request) as object as RecordedRequest

/** Counts and times requests. A time series is created by the first request of its kind. */
class RequestMeter {
  readonly #meters: NodeMeters
  readonly #counts = new Map<string, { requests: number }>()
  readonly #durations = new Map<string, Histogram>()

  constructor(meters: NodeMeters) {
    this.#meters = meters
  }

  count(method: string, path: string, status: number, seconds: number): void {
    const kind = `${method} ${path}`
    const key = `${kind} ${status}`
    let counted = this.#counts.get(key)
    if (counted === undefined) {
      const made = { requests: 0 }
      this.#meters.counter(
        "scheduling_http_requests_total",
        "Completed requests.",
        () => made.requests,
        { method, route: path, status: String(status) }
      )
      this.#counts.set(key, made)
      counted = made
    }
    counted.requests++
    let durations = this.#durations.get(kind)
    if (durations === undefined) {
      durations = this.#meters.histogram(
        "scheduling_http_request_duration_seconds",
        "Time from the request head to the response, including requests that wait for a result.",
        secondsBounds,
        { method, route: path }
      )
      this.#durations.set(kind, durations)
    }
    durations.observe(seconds)
  }
}

const methods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS"
])

const methodOf = (method: string): string => (methods.has(method) ? method : "OTHER")

/**
 * Returns the route name of a request for which no route was recorded. Pings, completions, triggers
 * and the echo do not record theirs. All other paths share one name, because clients can request any
 * number of them.
 */
const unrecordedRouteName = (url: string): string =>
  url.startsWith("/ping/")
    ? "/ping/:ping_id"
    : url.startsWith("/complete/")
      ? "/complete/:token"
      : url.startsWith("/trigger/")
        ? "/trigger/:token"
        : url.startsWith("/v1/echo")
          ? "/v1/echo"
          : "other"

/**
 * Returns the path for the log. Outside `/v1`, this is the path of the route, because the path of
 * the request may contain a secret, such as the secret of a ping URL.
 */
const loggedPath = (url: string, path: string): string =>
  url.startsWith("/v1/") ? (url.split("?", 1)[0] ?? "").slice(0, 200) : path
