import type { ScheduledCalls } from "../engines/engine.ts"
import { startGraphileWorker } from "../engines/graphileWorker.ts"
import { startMeasuredEngine, type StartEngine } from "../engines/startMeasuredEngine.ts"
import { startServiceEngine } from "../engines/service.ts"
import { makeDatabase } from "../support/database.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, percentile } from "../support/statistics.ts"

/**
 * The first call is due after 30 s. On a slow machine, 60,000 inserts take 15 s, and no call may be
 * late only because it was inserted late.
 */
const steady: ScheduledCalls = { count: 60_000, startsInMs: 30_000, spreadMs: 60_000 }
const warmUp: ScheduledCalls = { count: 3_000, startsInMs: 4_000, spreadMs: 3_000 }

const measure = async (start: StartEngine, env: Readonly<Record<string, string>> = {}) => {
  await using database = await makeDatabase()
  await using observed = await startMeasuredEngine(start, { database: database.url, env })
  const runCalls = (work: ScheduledCalls) =>
    observed.run(work.count, () => observed.engine.schedule(work))

  await runCalls(warmUp)
  const round = await runCalls(steady)
  const lateness = await observed.latenessOf(round)
  await observed.verify()
  return { ...round, ...lateness }
}

type Measured = Awaited<ReturnType<typeof measure>>

const rowOf = (name: string, { arrived, begun, micros, walBytes }: Measured) => [
  name,
  ...[
    percentile(arrived, 0.5),
    percentile(arrived, 0.99),
    percentile(arrived, 1),
    percentile(begun, 0.99),
    percentile(begun, 1),
    micros,
    walBytes
  ].map(formatNumber)
]

export const measureLateness = async (): Promise<Report> => {
  const service = await measure(startServiceEngine)
  // graphile-worker finds future jobs by polling. A shorter polling interval did not reduce
  // lateness.
  const graphileWorker = await measure(startGraphileWorker, { POLL_MS: "50" })
  return {
    title: "Lateness",
    work: `Milliseconds from the time that a call was due until it reached a local receiver, measured with the same clock, and until the engine started it: 1,000 firings of cron tasks per second for ${steady.spreadMs / 1_000} s. Each was called exactly once.`,
    columns: [
      "",
      "p50 ms",
      "p99 ms",
      "latest ms",
      "p99 until started",
      "latest until started",
      "CPU µs per run, with PostgreSQL",
      "WAL bytes per run"
    ],
    rows: [rowOf("this service", service), rowOf("graphile-worker", graphileWorker)],
    goal: "p99 ≤ 20 ms",
    result: `p99 ${formatNumber(percentile(service.arrived, 0.99))} ms`
  }
}
