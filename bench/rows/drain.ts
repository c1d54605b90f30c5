import { randomBytes } from "node:crypto"
import { startGraphileWorker } from "../engines/graphileWorker.ts"
import { type CallShape, observe, smallCall, type StartEngine } from "../engines/observe.ts"
import { startPgBoss } from "../engines/pgBoss.ts"
import { startServiceEngine, startServiceWithSecret } from "../engines/service.ts"
import { alternate } from "../support/alternate.ts"
import { makeDatabase } from "../support/database.ts"
import type { Report } from "../support/report.ts"
import { figure, ratios, spread } from "../support/statistics.ts"

const rounds = 5

interface Work {
  readonly title: string
  readonly runs: number
  readonly call: CallShape
  /** The description of one call. Starts with "each". */
  readonly each: string
  readonly goal: string
}

interface Drained {
  /** Runs per second, from the first call until the last call is in the history. */
  readonly perSecond: number
  readonly micros: number
  readonly walBytes: number
}

/** Starts an engine and returns a function that drains this many runs, repeatedly. */
export const startContender = async (
  start: StartEngine,
  { call, runs }: Pick<Work, "call" | "runs">
) => {
  await using starting = new AsyncDisposableStack()
  const { url: database } = starting.use(await makeDatabase())
  const observed = starting.use(await observe(start, { database, call }))
  const stack = starting.move()
  return {
    drain: async (): Promise<Drained> => {
      const { doneAtMs, micros, times, walBytes } = await observed.run(runs, () =>
        observed.engine.enqueue(runs)
      )
      const perSecond = (runs * 1_000) / (doneAtMs - (times[0] ?? Number.NaN))
      return { perSecond, micros, walBytes }
    },
    verify: observed.verify,
    [Symbol.asyncDispose]: () => stack.disposeAsync()
  }
}

const drainOf = (work: Work) => async (): Promise<Report> => {
  await using service = await startContender(startServiceEngine, work)
  await using graphileWorker = await startContender(startGraphileWorker, work)
  await using pgBoss = await startContender(startPgBoss, work)
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
    spread(drained[name].map(({ micros }) => micros)),
    spread(drained[name].map(({ walBytes }) => walBytes))
  ]
  return {
    title: work.title,
    work: `${figure(work.runs)} due runs, ${work.each}, and a history row, with at most 512 concurrent calls; from the first call until all are in the history, ${rounds} rounds in turn. The service also signs its calls. Each run was called exactly once and is in the history.`,
    columns: [
      "",
      "runs/s",
      "CPU µs per run, with PostgreSQL",
      "WAL bytes per run",
      "service / peer"
    ],
    rows: [
      ["this service", ...figures("service"), ""],
      ["graphile-worker", ...figures("graphileWorker"), beside("graphileWorker")],
      ["pg-boss", ...figures("pgBoss"), beside("pgBoss")]
    ],
    goal: work.goal,
    result: `${beside("graphileWorker")} graphile-worker, ${beside("pgBoss")} pg-boss`
  }
}

export const drain = drainOf({
  title: "Drain",
  runs: 20_000,
  call: smallCall,
  each: "each a POST to a local receiver",
  goal: "≥ 1.4 × graphile-worker, ≥ 1.6 × pg-boss"
})

const kilobytes = 2

/** Random text, because PostgreSQL compresses repetitions. */
const text = () => randomBytes((kilobytes * 1_024 * 3) / 4).toString("base64url")

export const bodies = drainOf({
  title: "Bodies",
  runs: 10_000,
  call: {
    ...smallCall,
    body: text(),
    answer: text()
  },
  each: `each a POST of ${kilobytes} KiB to a local receiver that responds with as much, all of which is stored`,
  goal: "≥ 1.4 × graphile-worker, ≥ 1.6 × pg-boss"
})

export const https = drainOf({
  title: "HTTPS",
  runs: 10_000,
  call: { ...smallCall, overTls: true },
  each: "each a POST to a local receiver over HTTPS, on persistent connections",
  goal: "≥ 1.4 × graphile-worker, ≥ 1.6 × pg-boss"
})

export const httpsConnections = drainOf({
  title: "New HTTPS connections",
  runs: 2_000,
  call: { ...smallCall, overTls: true, keepsConnections: false },
  each: "each a POST to a local receiver over HTTPS that closes the connection after its response",
  goal: "≥ 1 ×"
})

/** Measures the cost of a secret in each call. */
export const secrets = async (): Promise<Report> => {
  const work = { call: smallCall, runs: 20_000 }
  await using without = await startContender(startServiceEngine, work)
  await using withSecret = await startContender(startServiceWithSecret, work)
  const contenders = { without: without.drain, withSecret: withSecret.drain }
  await alternate(1, contenders)
  const drained = await alternate(rounds, contenders)
  for (const contender of [without, withSecret]) await contender.verify()
  const figures = (name: keyof typeof drained) => [
    spread(drained[name].map(({ perSecond }) => perSecond)),
    spread(drained[name].map(({ micros }) => micros))
  ]
  const perSecond = (name: keyof typeof drained) => drained[name].map((round) => round.perSecond)
  const beside = `${spread(ratios(perSecond("withSecret"), perSecond("without")))} ×`
  return {
    title: "Secrets",
    work: `${figure(work.runs)} runs as in the drain, with and without a secret in a header of each call, ${rounds} rounds in turn.`,
    columns: ["", "runs/s", "CPU µs per run, with PostgreSQL"],
    rows: [
      ["without", ...figures("without")],
      ["with a secret", ...figures("withSecret")]
    ],
    goal: "≥ 0.95 × without",
    result: `${beside} without`
  }
}
