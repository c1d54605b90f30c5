import type { ScheduledCalls } from "../engines/engine.ts"
import { startMeasuredEngine } from "../engines/startMeasuredEngine.ts"
import { rescheduleSome, startServiceEngine } from "../engines/service.ts"
import { alternate } from "../support/alternate.ts"
import { makeDatabase, query } from "../support/database.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { idleMs, idleRounds, measureIdle, resourceUseOf } from "../support/idle.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, percentile, ratios, formatSpread } from "../support/statistics.ts"

const sizes = [10_000, 100_000, 1_000_000]
const fireRounds = 3
const fires: ScheduledCalls = { count: 1_600, startsInMs: 3_000, spreadMs: 8_000 }
const warmUp: ScheduledCalls = { count: 600, startsInMs: 3_000, spreadMs: 3_000 }

const days = (count: number) => count * 86_400_000

/** Inserts tasks that will not fire for at least a month. */
const populate = async (size: number) => {
  await using starting = new AsyncDisposableStack()
  const { url: database } = starting.use(await makeDatabase())
  const observed = starting.use(await startMeasuredEngine(startServiceEngine, { database }))
  const { engine } = observed
  await engine.schedule({ count: size, startsInMs: days(30), spreadMs: days(30) })
  await query(database, "VACUUM ANALYZE tasks")
  const databaseWatch = starting.use(await watchDatabase(database))

  const used = resourceUseOf(engine.pid, databaseWatch)
  const runCalls = (work: ScheduledCalls) =>
    observed.run(work.count, async () => {
      await rescheduleSome(database, work)
      await used()
    })
  await runCalls(warmUp)
  const stack = starting.move()
  return {
    size,
    used,
    fire: async () => {
      const round = await runCalls(fires)
      const { postgresMs, serviceMs } = await used()
      const { arrived } = await observed.latenessOf(round)
      const micros = (ms: number) => (ms * 1_000) / fires.count
      return {
        service: micros(serviceMs),
        postgres: micros(postgresMs),
        both: micros(serviceMs + postgresMs),
        arrived
      }
    },
    verify: observed.verify,
    [Symbol.asyncDispose]: () => stack.disposeAsync()
  }
}

type Population = Awaited<ReturnType<typeof populate>>

const sum = (service: ReadonlyArray<number>, postgres: ReadonlyArray<number>) =>
  `${formatNumber(median(service))} + ${formatNumber(median(postgres))}`

export const measureTaskScale = async (): Promise<Report> => {
  await using running = new AsyncDisposableStack()
  const populations: Array<Population> = []
  for (const size of sizes) populations.push(running.use(await populate(size)))
  const idle = await measureIdle(populations)
  const fired = await alternate(
    fireRounds,
    Object.fromEntries(populations.map(({ fire, size }) => [size, fire]))
  )
  for (const { verify } of populations) await verify()

  const roundsOf = (size: number) => fired[size] ?? []
  const microsOf = (size: number) => roundsOf(size).map(({ both }) => both)
  const smallest = { idle: idle[0]?.both ?? [], micros: microsOf(sizes[0] ?? 0) }
  const rows = populations.map(({ size }, index) => {
    const { both = [], postgres = [], service = [], transactions = [] } = idle[index] ?? {}
    const fires = roundsOf(size)
    const late = (share: number) =>
      formatNumber(median(fires.map(({ arrived }) => percentile(arrived, share))))
    return {
      idleRatio: formatNumber(median(ratios(both, smallest.idle))),
      fireRatio: formatNumber(median(ratios(microsOf(size), smallest.micros))),
      cells: [
        `${formatNumber(size)} tasks`,
        formatSpread(both),
        sum(service, postgres),
        formatNumber(median(transactions)),
        formatSpread(microsOf(size)),
        sum(
          fires.map((fire) => fire.service),
          fires.map((fire) => fire.postgres)
        ),
        late(0.5),
        late(0.99)
      ]
    }
  })
  const largest = rows.at(-1)
  return {
    title: "Scale of tasks",
    work: `The service with this many tasks that fire next month: CPU time of the service and PostgreSQL while nothing is due (${idleRounds} times ${idleMs / 1_000} s), and while ${formatNumber((fires.count * 1_000) / fires.spreadMs)} of the tasks fire per second, each with a call to a local receiver (${fireRounds} rounds of ${fires.spreadMs / 1_000} s in turn).`,
    columns: [
      "",
      "idle, CPU ms per second",
      "service + PostgreSQL",
      "statements per second",
      "CPU µs per firing",
      "service + PostgreSQL",
      "late, p50 ms",
      "late, p99 ms"
    ],
    rows: rows.map(({ cells }) => cells),
    goal: "≤ 1.2 × between the smallest and the largest",
    result: `idle ${largest?.idleRatio} ×, firing ${largest?.fireRatio} ×`
  }
}
