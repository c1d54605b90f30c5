// @tags slow
import { assert, describe, it, layer } from "@effect/vitest"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { Effect, Layer, Redacted } from "effect"
import type { IncomingMessage } from "node:http"
import { gunzipSync } from "node:zlib"
import { AppConfig } from "../../../src/core/config/Config.ts"
import { LoggingLayer } from "../../../src/core/Logging.ts"
import {
  readTraceparent,
  type Span,
  spanIdOf,
  traceIdOf,
  traceparentOf,
  Tracer
} from "../../../src/core/Tracing.ts"
import { ask, signUp } from "../../support/http.ts"
import { eventually } from "../../support/ServerProcess.ts"
import {
  runningConfig,
  runningNodeLayer,
  startNode,
  TestApp,
  testConfig
} from "../../support/TestApp.ts"
import { decodeOtlp } from "../../support/otlpProtobuf.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"

describe("a traceparent", () => {
  it("gives only its ids when it is read, and is written in the same format", () => {
    assert.deepStrictEqual(readTraceparent(traceparentOf(traceId, spanId, true)), {
      traceId,
      spanId
    })
    assert.deepStrictEqual(readTraceparent(traceparentOf(traceId, spanId, false)), {
      traceId,
      spanId
    })
  })

  it.each([
    undefined,
    "",
    "00-",
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}${traceId}-${spanId}-01`
  ])("that is not one is none: %s", (header) => {
    assert.isUndefined(readTraceparent(header))
  })
})

describe("spans", () => {
  const spanAt = (endMs: number, trace = traceId): Span => ({
    traceId: trace,
    spanId,
    parentSpanId: undefined,
    name: "a",
    kind: "internal",
    startMs: 0,
    endMs,
    attributes: {},
    error: undefined
  })

  it("are kept or dropped by the id of their trace, at the configured ratio", () => {
    const kept: Array<Span> = []
    const tracer = new Tracer((span) => kept.push(span), { ratio: 0.5, spansPerSecond: 10 })
    tracer.span(spanAt(0, `${traceId.slice(0, 24)}7fffffff`))
    tracer.span(spanAt(0, `${traceId.slice(0, 24)}80000000`))
    assert.lengthOf(kept, 1)
  })

  it("beyond the limit per second are dropped and counted", () => {
    const kept: Array<Span> = []
    const tracer = new Tracer((span) => kept.push(span), { ratio: 1, spansPerSecond: 10 })
    for (let n = 0; n < 25; n++) tracer.span(spanAt(500))
    tracer.span(spanAt(1_500))
    assert.lengthOf(kept, 11)
    assert.strictEqual(tracer.dropped, 15)
  })
})

interface Received {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the body
  readonly body: any
}

const collector = Effect.gen(function* () {
  const received: Array<Received> = []
  const port = yield* httpTarget((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const bytes = Buffer.concat(chunks)
      const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes
      const { headers, url = "" } = request
      const signal = /\/v1\/(traces|metrics|logs)$/.exec(url)?.[1] as "traces" | "metrics" | "logs"
      const isJson = headers["content-type"] === "application/json"
      const body = isJson ? JSON.parse(plain.toString()) : decodeOtlp(signal, plain)
      received.push({ path: url, headers, body })
      response.writeHead(200, { "content-type": headers["content-type"] }).end(isJson ? "{}" : "")
    })
  })
  const spans = () =>
    received
      .filter(({ path }) => path === "/otlp/v1/traces")
      .flatMap(({ body }) => body.resourceSpans)
      .flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap((scope: { readonly spans: ReadonlyArray<object> }) =>
          scope.spans.map((span) => ({ ...span, resource }))
        )
      )
  return { received, spans, url: `http://127.0.0.1:${port}/otlp/` }
})

type Protocol = AppConfig["Service"]["otlpProtocol"]

const protocols: ReadonlyArray<Protocol> = ["http/json", "http/protobuf"]

const contentTypes = { "http/json": "application/json", "http/protobuf": "application/x-protobuf" }

const startCollected = Effect.fnUntraced(function* (otlpProtocol: Protocol) {
  const collected = yield* collector
  const config = {
    ...runningConfig,
    otlpEndpoint: collected.url.replace(/\/$/, ""),
    otlpProtocol,
    otlpHeaders: Redacted.make({ "x-collector-key": "of the collector" })
  }
  const url = yield* startNode(config)
  const otherUrl = onPostgres ? yield* startNode(config) : url
  return { collected, app: TestApp.of({ url, otherUrl, logs: [] }) }
})

const attributesOf = (span: {
  readonly attributes: ReadonlyArray<{ key: string; value: object }>
}) => Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

layer(TestDatabaseLayer, { excludeTestServices: true, timeout: "60 seconds" })("traces", (it) => {
  it.effect.each(protocols)("follow each run over all its nodes, by %s", (protocol) =>
    Effect.gen(function* () {
      const { app, collected } = yield* startCollected(protocol)
      yield* Effect.gen(function* () {
        const { access_token: token, workspace } = yield* signUp()
        const heads: Array<IncomingMessage["headers"]> = []
        const port = yield* httpTarget((request, response) => {
          heads.push(request.headers)
          response.writeHead(heads.length === 1 ? 503 : 200).end()
        })
        const task = yield* ask("POST", `${workspace}/delayed`, {
          token,
          at: "otherUrl",
          headers: { traceparent: traceparentOf(traceId, spanId, false) },
          body: { url: `http://127.0.0.1:${port}/secret-path`, delay_seconds: 0, retry_count: 1 }
        })
        const list = yield* ask("GET", `${workspace}/executions?task_id=${task.body.id}`, { token })
        const id = String(list.body.data[0].id)
        const own = () => collected.spans().filter((span) => span.traceId === traceIdOf(id))
        yield* eventually("the whole run", async () =>
          own().some((span) => span.name === "run delayed")
        )
        const root = own().find((span) => span.name === "run delayed")
        assert.strictEqual(root.spanId, spanIdOf(id))
        assert.isTrue(root.parentSpanId === undefined || root.parentSpanId === "")
        assert.deepInclude(attributesOf(root), {
          "scheduling.execution_id": id,
          "scheduling.task_id": task.body.id,
          "scheduling.status": "succeeded"
        })
        yield* eventually("all parts", async () => own().length >= 9)
        assert.deepStrictEqual(
          own()
            .map(({ name }) => name)
            .toSorted(),
          ["POST", "POST", "claimed", "claimed", "due", "due", "run delayed", "settle", "settle"]
        )
        for (const span of own()) {
          if (span.spanId !== root.spanId)
            assert.strictEqual(span.parentSpanId, spanIdOf(id), span.name)
          assert.isAtLeast(Number(span.endTimeUnixNano), Number(span.startTimeUnixNano))
        }
        const calls = own().filter(({ name }) => name === "POST")
        assert.sameMembers(
          heads.map(({ traceparent }) => traceparent),
          calls.map((span) => traceparentOf(traceIdOf(id), span.spanId, true))
        )
        assert.notInclude(JSON.stringify(collected.received), "secret-path")

        const request = yield* eventually("the span of the request", async () =>
          collected.spans().find((span) => span.traceId === traceId)
        )
        assert.strictEqual(request.name, "POST /v1/workspaces/:workspace_id/delayed")
        assert.strictEqual(request.parentSpanId, spanId)
        const service = request.resource.attributes.find(
          ({ key }: { readonly key: string }) => key === "service.name"
        )
        assert.strictEqual(service.value.stringValue, "scheduling-service")
        assert.isTrue(
          collected.received.every(
            ({ headers }) =>
              headers["x-collector-key"] === "of the collector" &&
              headers["content-type"] === contentTypes[protocol]
          )
        )
      }).pipe(Effect.provideService(TestApp, app))
    })
  )
})

layer(TestDatabaseLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "metrics and logs",
  (it) => {
    it.effect.each(protocols)(
      "are exported, at the latest when the node stops, by %s",
      (protocol) =>
        Effect.gen(function* () {
          const { collected } = yield* Effect.scoped(startCollected(protocol))
          const sent = collected.received
            .filter(({ path }) => path === "/otlp/v1/metrics")
            .flatMap(({ body }) => body.resourceMetrics)
            .flatMap(({ scopeMetrics }) => scopeMetrics)
            .flatMap(({ metrics }) => metrics)
          const named = (name: string) => sent.find((one) => one.name === name)
          assert.deepStrictEqual(
            named("scheduling_attempts_ended_total").sum.dataPoints.map(
              (point: Parameters<typeof attributesOf>[0]) => attributesOf(point)["outcome"]
            ),
            ["succeeded", "failed", "retried", "cancelled", "skipped"]
          )
          const [lateness] = named("scheduling_run_lateness_seconds").histogram.dataPoints
          assert.lengthOf(lateness.bucketCounts, lateness.explicitBounds.length + 1)
        })
    )

    it.effect.each(protocols)(
      "have the fields of a log line as attributes, by %s",
      (otlpProtocol) =>
        Effect.gen(function* () {
          const collected = yield* collector
          const config = {
            ...testConfig,
            logLevel: "info" as const,
            otlpEndpoint: collected.url.replace(/\/$/, ""),
            otlpProtocol
          }
          yield* Effect.logWarning("an execution failed").pipe(
            Effect.annotateLogs({ execution_id: "e-1", request_id: "r-1" }),
            Effect.andThen(Effect.logDebug("not for the collector")),
            Effect.provide(LoggingLayer.pipe(Layer.provide(Layer.succeed(AppConfig, config))), {
              local: true
            })
          )
          const records = collected.received
            .filter(({ path }) => path === "/otlp/v1/logs")
            .flatMap(({ body }) => body.resourceLogs)
            .flatMap(({ scopeLogs }) => scopeLogs)
            .flatMap(({ logRecords }) => logRecords)
          assert.lengthOf(records, 1)
          assert.include(JSON.stringify(records[0].body), "an execution failed")
          assert.deepInclude(attributesOf(records[0]), { execution_id: "e-1", request_id: "r-1" })
        })
    )
  }
)

layer(runningNodeLayer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "without a collector",
  (it) => {
    it.effect("calls carry only a traceparent that the user has set", () =>
      Effect.gen(function* () {
        const { access_token: token, workspace } = yield* signUp()
        const heads: Array<string | undefined> = []
        const port = yield* httpTarget((request, response) => {
          heads.push(request.headers["traceparent"] as string | undefined)
          response.end()
        })
        const url = `http://127.0.0.1:${port}/`
        const mine = traceparentOf(traceId, spanId, true)
        yield* ask("POST", `${workspace}/delayed`, { token, body: { url, delay_seconds: 0 } })
        yield* eventually("a call", async () => heads.length === 1)
        yield* ask("POST", `${workspace}/delayed`, {
          token,
          body: { url, delay_seconds: 0, headers: { traceparent: mine } }
        })
        yield* eventually("another call", async () => heads.length === 2)
        assert.deepStrictEqual(heads, [undefined, mine])
      })
    )
  }
)
