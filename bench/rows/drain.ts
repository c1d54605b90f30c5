import { startGraphileWorker } from "../engines/graphileWorker.ts"
import { observe, type StartEngine } from "../engines/observe.ts"
import { startPgBoss } from "../engines/pgBoss.ts"
import { startServiceEngine } from "../engines/service.ts"
import { alternate } from "../support/alternate.ts"
import { makeDatabase } from "../support/database.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { processorTimeOf } from "../support/processorTime.ts"
import type { Report } from "../support/report.ts"
import { figure, ratios, spread } from "../support/statistics.ts"

const runs = 20_000
const rounds = 5

interface Drained {
  /** Runs, from the first call until the last is in the history. */
  readonly perSecond: number
  /** Of processors, the engine's and PostgreSQL's, a run: other work on the machine changes it less. */
  readonly micros: number
}

const contend = async (start: StartEngine) => {
  await using starting = new AsyncDisposableStack()
  const { url: database } = starting.use(await makeDatabase())
  const observed = starting.use(await observe(start, { database }))
  const { engine } = observed
  const databaseWatch = starting.use(await watchDatabase(database))
  const stack = starting.move()
  return {
    drain: async (): Promise<Drained> => {
      const before = processorTimeOf(engine.pid)
      await databaseWatch.since()
      const { doneAtMs, times } = await observed.run(runs, () => engine.enqueue(runs))
      const { processorMs } = await databaseWatch.since()
      return {
        perSecond: (runs * 1_000) / (doneAtMs - (times[0] ?? Number.NaN)),
        micros: ((processorTimeOf(engine.pid) - before + processorMs) * 1_000) / runs
      }
    },
    verify: observed.verify,
    [Symbol.asyncDispose]: () => stack.disposeAsync()
  }
}

export const drain = async (): Promise<Report> => {
  await using service = await contend(startServiceEngine)
  await using graphileWorker = await contend(startGraphileWorker)
  await using pgBoss = await contend(startPgBoss)
  const contenders = {
    service: service.drain,
    graphileWorker: graphileWorker.drain,
    pgBoss: pgBoss.drain
  }
  await alternate(1, contenders)
  const drained = await alternate(rounds, contenders)
  for (const contender of [service, graphileWorker, pgBoss]) await contender.verify()

  const perSecond = (name: keyof typeof drained) => drained[name].map((round) => round.perSecond)
  const beside = (peer: "graphileWorker" | "pgBoss") =>
    `${spread(ratios(perSecond("service"), perSecond(peer)))} ×`
  const figures = (name: keyof typeof drained) => [
    spread(perSecond(name)),
    spread(drained[name].map(({ micros }) => micros))
  ]
  return {
    title: "Drain",
    work: `${figure(runs)} runs that are due, each a POST to a local receiver and a row of history, with at most 512 calls at once; from the first call until all are in the history, ${rounds} rounds in turns. The service signs its calls, too. Each run was called exactly once, and is in the history.`,
    columns: ["", "runs/s", "processor µs a run, with PostgreSQL's", "the service beside it"],
    rows: [
      ["this service", ...figures("service"), ""],
      ["graphile-worker", ...figures("graphileWorker"), beside("graphileWorker")],
      ["pg-boss", ...figures("pgBoss"), beside("pgBoss")]
    ],
    goal: "≥ 1.5 ×",
    result: `${beside("graphileWorker")} graphile-worker, ${beside("pgBoss")} pg-boss`
  }
}
