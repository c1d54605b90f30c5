import type { ScheduledCalls } from "../engines/engine.ts"
import { startGraphileWorker } from "../engines/graphileWorker.ts"
import { startMeasuredEngine, type StartEngine } from "../engines/startMeasuredEngine.ts"
import { startServiceEngine } from "../engines/service.ts"
import { makeDatabase } from "../support/database.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, percentile, formatSpread } from "../support/statistics.ts"

/**
 * Calls that are all due at the same instant. They are scheduled a few seconds ahead, like real
 * schedules.
 */
const instant: ScheduledCalls = { count: 5_000, startsInMs: 4_000, spreadMs: 0 }
const rounds = 5

const measure = async (start: StartEngine, env: Readonly<Record<string, string>> = {}) => {
  await using database = await makeDatabase()
  await using observed = await startMeasuredEngine(start, { database: database.url, env })
  const runCalls = () => observed.run(instant.count, () => observed.engine.schedule(instant))
  await runCalls()
  const measured = []
  for (let round = 0; round < rounds; round++) {
    const met = await runCalls()
    const { arrived, begun } = await observed.latenessOf(met)
    measured.push({
      micros: met.micros,
      walBytes: met.walBytes,
      first: percentile(arrived, 0),
      half: percentile(arrived, 0.5),
      last: percentile(arrived, 1),
      lastBegun: percentile(begun, 1)
    })
  }
  await observed.verify()
  return measured
}

type Measured = Awaited<ReturnType<typeof measure>>

const rowOf = (name: string, measured: Measured) => {
  const middle = (of: keyof Measured[number]) =>
    formatNumber(median(measured.map((round) => round[of])))
  return [
    name,
    middle("first"),
    middle("half"),
    formatSpread(measured.map(({ last }) => last)),
    middle("lastBegun"),
    middle("micros"),
    middle("walBytes")
  ]
}

export const measureBurst = async (): Promise<Report> => {
  const service = await measure(startServiceEngine)
  // graphile-worker finds future jobs by polling. A shorter polling interval did not reduce
  // lateness.
  const graphileWorker = await measure(startGraphileWorker, { POLL_MS: "50" })
  return {
    title: "Burst",
    work: `${formatNumber(instant.count)} tasks that are due at the same instant, ${rounds} rounds after a warm-up round. Milliseconds from that instant until the first, half and the last of the calls reached a local receiver, measured with the same clock, and until the engine started the last call. Each task was called exactly once.`,
    columns: [
      "",
      "first ms",
      "half ms",
      "last ms",
      "last started ms",
      "CPU µs per run, with PostgreSQL",
      "WAL bytes per run"
    ],
    rows: [rowOf("this service", service), rowOf("graphile-worker", graphileWorker)],
    goal: "all within 200 ms",
    result: `all within ${formatSpread(service.map(({ last }) => last))} ms`
  }
}
