import { Effect, Layer, type Logger, Metric, Redacted, type Scope } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import {
  OtlpExporter,
  OtlpLogger,
  OtlpMetrics,
  OtlpResource,
  OtlpSerialization
} from "effect/observability"
import { AppConfig } from "../config/Config.ts"
import {
  CollectorHealth,
  recordExportResults,
  logCollectorProblems,
  type TelemetrySignal,
  telemetrySignals
} from "./CollectorHealth.ts"
import { Meters } from "../Meters.ts"
import { version } from "../version.ts"
import { type Span, Tracer, Tracing } from "../Tracing.ts"

const spansPerSecond = 5_000

const scope = "scheduling"

/** The enum values of OTLP. */
const spanKinds = { internal: 1, server: 2, client: 3 } as const

const spanStatuses = { ok: 1, error: 2 } as const

const nanos = (ms: number): string => `${Math.round(ms * 1_000)}000`

const toOtlp = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  name: span.name,
  kind: spanKinds[span.kind],
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(Math.max(span.startMs, span.endMs)),
  attributes: OtlpResource.entriesToAttributes(Object.entries(span.attributes)),
  droppedAttributesCount: 0,
  events: [],
  droppedEventsCount: 0,
  status:
    span.error === undefined
      ? { code: spanStatuses.ok }
      : { code: spanStatuses.error, message: span.error },
  links: [],
  droppedLinksCount: 0
})

export const toTracesMessage = (resource: OtlpResource.Resource, spans: ReadonlyArray<Span>) => ({
  resourceSpans: [{ resource, scopeSpans: [{ scope: { name: scope }, spans: spans.map(toOtlp) }] }]
})

/** The settings of the collector. Undefined without `OTEL_EXPORTER_OTLP_ENDPOINT`. */
const collector = Effect.map(AppConfig, ({ otlpEndpoint, otlpHeaders, otlpServiceName }) =>
  otlpEndpoint === undefined
    ? undefined
    : {
        urlOf: (signal: TelemetrySignal) => `${otlpEndpoint}/v1/${signal}`,
        headers: otlpHeaders === undefined ? undefined : Redacted.value(otlpHeaders),
        resource: { serviceName: otlpServiceName, serviceVersion: version }
      }
)

const recordedClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    return recordExportResults(yield* HttpClient.HttpClient, yield* CollectorHealth)
  })
).pipe(Layer.provide(FetchHttpClient.layer))

const exporting = Layer.unwrap(
  Effect.map(AppConfig, ({ otlpProtocol }) =>
    Layer.mergeAll(
      OtlpExporter.layerFlusher,
      recordedClient,
      otlpProtocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf
    )
  )
)

export const TracingLayer: Layer.Layer<never, never, AppConfig> = Layer.effect(
  Tracing,
  Effect.gen(function* () {
    const to = yield* collector
    if (to === undefined) return undefined
    const { traceSampleRatio } = yield* AppConfig
    const resource = yield* OtlpResource.fromConfig(to.resource)
    const serialization = yield* OtlpSerialization.OtlpSerialization
    const exporter = yield* OtlpExporter.make({
      label: "Tracer",
      url: to.urlOf("traces"),
      headers: to.headers,
      exportInterval: "5 seconds",
      maxBatchSize: 1_000,
      shutdownTimeout: "3 seconds",
      body: (spans) => [
        serialization.traces(toTracesMessage(resource, spans as ReadonlyArray<Span>)),
        Effect.void
      ]
    })
    const tracer = new Tracer((span) => exporter.push(span), {
      ratio: traceSampleRatio,
      spansPerSecond
    })
    const meters = yield* Meters
    meters.counter(
      "scheduling_spans_dropped_total",
      "Spans dropped because the node exceeded its limit per second.",
      () => tracer.dropped
    )
    return tracer
  })
).pipe(Layer.provide(exporting))

/** Exports the metrics every minute, and reports failures of the collector. */
export const MetricsExportLayer: Layer.Layer<never, never, AppConfig> = Layer.effectDiscard(
  Effect.gen(function* () {
    const to = yield* collector
    if (to === undefined) return
    const meters = yield* Meters
    const { failed } = yield* CollectorHealth
    for (const signal of telemetrySignals) {
      meters.counter(
        "scheduling_export_failures_total",
        "Requests that the collector did not accept.",
        () => failed[signal],
        { signal }
      )
    }
    yield* Effect.forkScoped(logCollectorProblems)
    yield* OtlpMetrics.make({
      url: to.urlOf("metrics"),
      headers: to.headers,
      resource: to.resource,
      exportInterval: "1 minute"
    }).pipe(Effect.provideService(Metric.MetricRegistry, meters.registry))
  })
).pipe(Layer.provide(exporting))

/** A logger that exports log lines in addition to writing them. Undefined without a collector. */
export const otlpLogger: Effect.Effect<
  Logger.Logger<unknown, void> | undefined,
  never,
  AppConfig | Scope.Scope
> = Effect.gen(function* () {
  const to = yield* collector
  if (to === undefined) return undefined
  const { headers, resource } = to
  const context = yield* Layer.build(exporting)
  return yield* OtlpLogger.make({ url: to.urlOf("logs"), headers, resource }).pipe(
    Effect.provideContext(context)
  )
})
