import type { Work } from "../engines/engine.ts"
import { startGraphileWorker } from "../engines/graphileWorker.ts"
import { type Lateness, observe, type StartEngine } from "../engines/observe.ts"
import { startServiceEngine } from "../engines/service.ts"
import { makeDatabase } from "../support/database.ts"
import type { Report } from "../support/report.ts"
import { figure, median, percentile, spread } from "../support/statistics.ts"

/** Scheduled well ahead, as schedules are: the work is not to be late because it came late. */
const startsInMs = 4_000

const steady: Work = { count: 60_000, startsInMs, spreadMs: 60_000 }
const instant: Work = { count: 5_000, startsInMs, spreadMs: 0 }
const instants = 3
const warmUp: Work = { count: 3_000, startsInMs, spreadMs: 3_000 }

interface Measured {
  readonly steady: Lateness
  readonly instants: ReadonlyArray<Lateness>
}

const measure = async (
  start: StartEngine,
  env: Readonly<Record<string, string>> = {}
): Promise<Measured> => {
  await using database = await makeDatabase()
  await using observed = await observe(start, { database: database.url, env })
  const meet = async (work: Work) =>
    observed.latenessOf(await observed.run(work.count, () => observed.engine.schedule(work)))

  await meet(warmUp)
  const measured = { steady: await meet(steady), instants: [] as Array<Lateness> }
  for (let round = 0; round < instants; round++) measured.instants.push(await meet(instant))
  await observed.verify()
  return measured
}

/** p50, p99 and the latest; of several rounds the median of each. */
const summaryOf = (rounds: ReadonlyArray<ReadonlyArray<number>>) => ({
  p50: median(rounds.map((late) => percentile(late, 0.5))),
  p99: median(rounds.map((late) => percentile(late, 0.99))),
  latest: median(rounds.map((late) => percentile(late, 1)))
})

const rowsOf = (name: string, { instants, steady }: Measured) => {
  const row = (what: string, rounds: ReadonlyArray<Lateness>) => {
    const arrived = summaryOf(rounds.map((round) => round.arrived))
    const begun = summaryOf(rounds.map((round) => round.begun))
    return [
      `${name}, ${what}`,
      ...[arrived.p50, arrived.p99, arrived.latest, begun.p99, begun.latest].map(figure)
    ]
  }
  return [row("1,000 a second", [steady]), row("5,000 at one instant", instants)]
}

export const lateness = async (): Promise<Report> => {
  const service = await measure(startServiceEngine)
  // Jobs of the future are found by polling; a shorter interval made them no less late.
  const graphileWorker = await measure(startGraphileWorker, { POLL_MS: "50" })
  const latest = service.instants.map(({ arrived }) => percentile(arrived, 1))
  return {
    title: "Lateness",
    work: `Milliseconds from the time that a call was due until it was at a local receiver, by the same clock, and beside it until the engine began with it: 1,000 fires of cron tasks a second for ${steady.spreadMs / 1_000} s, and 5,000 tasks at one instant (the median of ${instants} times). Each was called exactly once.`,
    columns: ["", "p50 ms", "p99 ms", "latest ms", "p99 until begun", "latest until begun"],
    rows: [...rowsOf("this service", service), ...rowsOf("graphile-worker", graphileWorker)],
    goal: "p99 ≤ 20 ms at 1,000 a second; all 5,000 within 150 ms",
    result: `p99 ${figure(percentile(service.steady.arrived, 0.99))} ms; all 5,000 within ${spread(latest)} ms`
  }
}
