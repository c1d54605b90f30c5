import { Effect } from "effect"
import { OtlpResource } from "effect/observability"
import { toTracesMessage } from "../../packages/server/src/core/collector/Otlp.ts"
import {
  makeSpanId,
  makeTraceId,
  type Span,
  spanIdOf,
  traceIdOf,
  Tracer
} from "../../packages/server/src/core/Tracing.ts"
import { makeRequestRecorder } from "../../packages/server/src/http/request/RequestRecorder.ts"
import { startMeasuredEngine, type MeasuredEngine } from "../engines/startMeasuredEngine.ts"
import { startServiceEngine } from "../engines/service.ts"
import { alternate } from "../support/alternate.ts"
import { makeDatabase } from "../support/database.ts"
import { generateLoad } from "../support/load.ts"
import { cronLists, populate } from "../support/population.ts"
import { cpuTimeOf } from "../support/cpuTime.ts"
import { appSecret, type Server, startPeer, startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, ratios, formatSpread } from "../support/statistics.ts"

const rounds = 5
const runs = 10_000

/** The environment variables that enable metrics and traces. */
const watched = (collector: Server) => ({
  off: {},
  metrics: { METRICS_TOKEN: "a-token-of-the-bench" },
  traces: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
})

const names = {
  off: "off",
  metrics: "metrics",
  traces: "metrics, traces and logs to a collector"
} as const

type Name = keyof typeof names

/** Measures the variants alternately, after a warm-up round for each variant. */
const takeTurns = async <A>(measure: (name: Name) => () => Promise<A>) => {
  const contenders = {
    off: measure("off"),
    metrics: measure("metrics"),
    traces: measure("traces")
  }
  await alternate(1, contenders)
  return alternate(rounds, contenders)
}

const tableOf = (
  micros: Readonly<Record<Name, ReadonlyArray<number>>>,
  perSecond: Readonly<Record<Name, ReadonlyArray<number>>>
) =>
  (Object.keys(names) as Array<Name>).map((name) => [
    names[name],
    formatSpread(perSecond[name]),
    formatSpread(micros[name]),
    name === "off" ? "" : `${formatSpread(ratios(micros[name], micros.off))} ×`
  ])

const fieldsOf = <A extends object>(
  measured: Readonly<Record<Name, ReadonlyArray<A>>>,
  field: keyof A
) => {
  const of = (name: Name) => measured[name].map((round) => Number(round[field]))
  return { off: of("off"), metrics: of("metrics"), traces: of("traces") }
}

const microsOf = (turn: () => void, turns: number) => {
  const round = () => {
    const before = process.cpuUsage()
    for (let n = 0; n < turns; n++) turn()
    const { system, user } = process.cpuUsage(before)
    return (system + user) / turns
  }
  round()
  return round()
}

/** Measures the CPU time needed to record a request while metrics and traces are disabled. */
const microsWhenOff = () => {
  const { begin, end } = Effect.runSync(makeRequestRecorder({ isMetered: false, isLogged: false }))
  const request = {} as Parameters<typeof begin>[0]
  return microsOf(() => {
    begin(request)
    end(request, 200)
  }, 20_000_000)
}

const resource = OtlpResource.make({ serviceName: "scheduling-service" })

/** Measures the CPU time needed for spans, from their creation to their export. */
const microsTraced = (trace: (tracer: Tracer) => void) => {
  let spans: Array<Span> = []
  const keep = (span: Span) => {
    if (spans.push(span) < 1_000) return
    JSON.stringify(toTracesMessage(resource, spans))
    spans = []
  }
  const tracer = new Tracer(keep, { ratio: 1, spansPerSecond: Infinity })
  return microsOf(() => trace(tracer), 300_000)
}

const now = 1_763_819_000_000

const traceRequest = (tracer: Tracer) =>
  tracer.span({
    traceId: makeTraceId(),
    spanId: makeSpanId(),
    parentSpanId: undefined,
    name: "GET /v1/workspaces/:workspace_id/cron",
    kind: "server",
    startMs: now,
    endMs: now + 10,
    attributes: {
      "http.request.method": "GET",
      "http.route": "/v1/workspaces/:workspace_id/cron",
      "http.response.status_code": 200,
      "scheduling.request_id": "0123456789-1"
    },
    error: undefined
  })

const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const traceRun = (tracer: Tracer) => {
  for (const name of ["due", "claimed", "POST", "settle", "run cron"]) {
    tracer.span({
      traceId: traceIdOf(id),
      spanId: makeSpanId(),
      parentSpanId: spanIdOf(id),
      name,
      kind: name === "POST" ? "client" : "internal",
      startMs: now,
      endMs: now + 10,
      attributes: {
        "scheduling.execution_id": id,
        "scheduling.attempt": 1,
        ...(name === "run cron" && {
          "scheduling.task_id": id,
          "scheduling.workspace_id": id,
          "scheduling.status": "succeeded"
        })
      },
      error: undefined
    })
  }
}

export const measureObservedRequests = async (): Promise<Report> => {
  await using stack = new AsyncDisposableStack()
  const { url: DATABASE_URL } = stack.use(await makeDatabase())
  const env = watched(stack.use(await startPeer("collector", {})))
  const start = async (extra: Readonly<Record<string, string>>) =>
    stack.use(await startService({ DATABASE_URL, APP_SECRET: appSecret, ...extra }))
  const servers = {
    off: await start(env.off),
    metrics: await start(env.metrics),
    traces: await start(env.traces)
  }
  const requests = cronLists(await populate(servers.off.url, 64))
  const measure = (name: Name) => async () => {
    const { pid, url } = servers[name]
    const beforeMs = cpuTimeOf(pid)
    const { perSecond } = await generateLoad({ url, requests, connections: 64, seconds: 5 })
    return { perSecond, micros: ((cpuTimeOf(pid) - beforeMs) * 1_000) / (perSecond * 5) }
  }
  const measured = await takeTurns(measure)
  const micros = fieldsOf(measured, "micros")
  const shareOf = (part: number) => `${formatNumber((part / median(micros.off)) * 100)} %`
  const off = microsWhenOff()
  const on = microsTraced(traceRequest)
  return {
    title: "Observed requests",
    work: `\`GET W/cron\` with API keys as in "Authenticated list", on three nodes with one database; ${rounds} rounds of 5 s in turn. Measured in a loop, a request takes ${(off * 1_000).toFixed(1)} ns longer with observability off (two empty functions), and its span takes ${formatNumber(on)} µs, including the export.`,
    columns: ["", "requests/s", "CPU µs per request, without PostgreSQL", "compared with off"],
    rows: tableOf(micros, fieldsOf(measured, "perSecond")),
    goal: "≤ 1 % when off, ≤ 1.1 × with a collector",
    result: `${shareOf(off)} when off; with a collector ${shareOf(on)} in the loop, and ${formatSpread(ratios(micros.traces, micros.off))} × under load`
  }
}

export const measureObservedRuns = async (): Promise<Report> => {
  await using stack = new AsyncDisposableStack()
  const env = watched(stack.use(await startPeer("collector", {})))
  const start = async (extra: Readonly<Record<string, string>>) => {
    const { url: database } = stack.use(await makeDatabase())
    return stack.use(await startMeasuredEngine(startServiceEngine, { database, env: extra }))
  }
  const engines: Record<Name, MeasuredEngine> = {
    off: await start(env.off),
    metrics: await start(env.metrics),
    traces: await start(env.traces)
  }
  const measure = (name: Name) => async () => {
    const { engine, run } = engines[name]
    const { doneAtMs, micros, times } = await run(runs, () => engine.enqueue(runs))
    return { micros, perSecond: (runs * 1_000) / (doneAtMs - (times[0] ?? Number.NaN)) }
  }
  const measured = await takeTurns(measure)
  const micros = fieldsOf(measured, "micros")
  const on = microsTraced(traceRun)
  const share = `${formatNumber((on / median(micros.off)) * 100)} %`
  return {
    title: "Observed runs",
    work: `${formatNumber(runs)} due runs, each a POST to a local receiver, as in "Drain"; ${rounds} rounds in turn. A node exports at most 5,000 spans per second. Measured in a loop, the five spans of a run take ${formatNumber(on)} µs, including the export.`,
    columns: ["", "runs/s", "CPU µs per run, with PostgreSQL", "compared with off"],
    rows: tableOf(micros, fieldsOf(measured, "perSecond")),
    goal: "≤ 1.1 × with a collector",
    result: `with a collector ${share} in the loop, and ${formatSpread(ratios(micros.traces, micros.off))} × under load`
  }
}
