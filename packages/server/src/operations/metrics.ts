import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Layer, Metric, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { AppConfig, isSameSecret, Meters, type NodeMeters } from "../core/index.ts"
import { unknownRouteError, listenProblem } from "../http/index.ts"

const contentType = "text/plain; version=0.0.4; charset=utf-8"

export const renderMetrics = ({ registry }: NodeMeters): string =>
  PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, registry))

const hasToken = (authorization: string | undefined, token: Redacted.Redacted): boolean =>
  isSameSecret(`Bearer ${Redacted.value(token)}`, authorization ?? "")

const isShown = (
  authorization: string | undefined,
  token: Redacted.Redacted | undefined
): boolean => token === undefined || hasToken(authorization, token)

/** Serves the metrics on the port of the API if `METRICS_TOKEN` is set. */
export const metricsRouteLayer: Layer.Layer<never, never, AppConfig | HttpRouter.HttpRouter> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { metricsPort, metricsToken } = yield* AppConfig
      if (metricsToken === undefined || metricsPort !== undefined) return
      const meters = yield* Meters
      const router = yield* HttpRouter.HttpRouter
      yield* router.add(
        "GET",
        "/metrics",
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          hasToken(
            NodeHttpServerRequest.toIncomingMessage(request).headers.authorization,
            metricsToken
          )
            ? Effect.succeed(
                HttpServerResponse.text(renderMetrics(meters), {
                  contentType,
                  headers: { "cache-control": "no-store" }
                })
              )
            : unknownRouteError([])
        )
      )
    })
  )

export class CannotServeMetrics extends Schema.TaggedError<CannotServeMetrics>()(
  "CannotServeMetrics",
  { message: Schema.String }
) {}

/** Serves the metrics on `METRICS_PORT`, a port that a firewall can close to API clients. */
export const MetricsServerLayer: Layer.Layer<never, CannotServeMetrics, AppConfig> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { host, metricsPort, metricsToken } = yield* AppConfig
      if (metricsPort === undefined) return
      const meters = yield* Meters
      const server = createServer({ maxHeaderSize: 8 * 1024 }, (request, response) => {
        request.resume()
        if (request.url !== "/metrics" || request.method !== "GET") {
          return void response.writeHead(404).end("not found\n")
        }
        if (!isShown(request.headers.authorization, metricsToken)) {
          return void response.writeHead(401, { "www-authenticate": "Bearer" }).end()
        }
        response
          .writeHead(200, { "content-type": contentType, "cache-control": "no-store" })
          .end(renderMetrics(meters))
      })
      server.maxConnections = 32
      server.requestTimeout = 10_000
      yield* Effect.acquireRelease(
        Effect.callback<void, CannotServeMetrics>((resume) => {
          server.once("error", (cause) =>
            resume(
              Effect.fail(
                new CannotServeMetrics({
                  message: `cannot listen on HOST ${host}, METRICS_PORT ${metricsPort}: ${listenProblem(cause)}`
                })
              )
            )
          )
          server.listen(metricsPort, host, () => resume(Effect.void))
        }),
        () =>
          Effect.callback<void>((resume) => {
            server.close(() => resume(Effect.void))
            server.closeAllConnections()
          })
      )
    })
  )
