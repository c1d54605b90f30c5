import { randomBytes } from "node:crypto"
import { startGraphileWorker } from "../engines/graphileWorker.ts"
import {
  type CallShape,
  startMeasuredEngine,
  smallCall,
  type StartEngine
} from "../engines/startMeasuredEngine.ts"
import { startPgBoss } from "../engines/pgBoss.ts"
import {
  startServiceEngine,
  startServiceWithFlow,
  startServiceWithSecret
} from "../engines/service.ts"
import { alternate } from "../support/alternate.ts"
import { makeDatabase } from "../support/database.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, ratios, formatSpread } from "../support/statistics.ts"

const rounds = 5

interface DrainCase {
  readonly title: string
  readonly runs: number
  readonly call: CallShape
  /** Describes an individual call, starting with "each". */
  readonly each: string
  readonly goal: string
}

interface DrainResult {
  /** Runs per second, measured from the first call until the history contains the last call. */
  readonly perSecond: number
  readonly micros: number
  readonly walBytes: number
}

/** Starts an engine. Returns a function that drains this many runs and can be called repeatedly. */
export const startContender = async (
  start: StartEngine,
  { call, runs }: Pick<DrainCase, "call" | "runs">
) => {
  await using starting = new AsyncDisposableStack()
  const { url: database } = starting.use(await makeDatabase())
  const observed = starting.use(await startMeasuredEngine(start, { database, call }))
  const stack = starting.move()
  return {
    drain: async (): Promise<DrainResult> => {
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

const measureDrain = (work: DrainCase) => async (): Promise<Report> => {
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
  const ratioTo = (peer: "graphileWorker" | "pgBoss") =>
    `${formatSpread(ratios(perSecond("service"), perSecond(peer)))} ×`
  const figures = (name: keyof typeof drained) => [
    formatSpread(perSecond(name)),
    formatSpread(drained[name].map(({ micros }) => micros)),
    formatSpread(drained[name].map(({ walBytes }) => walBytes))
  ]
  return {
    title: work.title,
    work: `${formatNumber(work.runs)} due runs, ${work.each}, and a history row, with at most 512 concurrent calls; from the first call until all are in the history, ${rounds} rounds in turn. The service also signs its calls. Each run was called exactly once and is in the history.`,
    columns: [
      "",
      "runs/s",
      "CPU µs per run, with PostgreSQL",
      "WAL bytes per run",
      "service / peer"
    ],
    rows: [
      ["this service", ...figures("service"), ""],
      ["graphile-worker", ...figures("graphileWorker"), ratioTo("graphileWorker")],
      ["pg-boss", ...figures("pgBoss"), ratioTo("pgBoss")]
    ],
    goal: work.goal,
    result: `${ratioTo("graphileWorker")} graphile-worker, ${ratioTo("pgBoss")} pg-boss`
  }
}

export const measureSmallCalls = measureDrain({
  title: "Drain",
  runs: 20_000,
  call: smallCall,
  each: "each a POST to a local receiver",
  goal: "≥ 1.4 × graphile-worker, ≥ 1.6 × pg-boss"
})

const kilobytes = 2

/** The text is random, because PostgreSQL would compress repetitive text. */
const text = () => randomBytes((kilobytes * 1_024 * 3) / 4).toString("base64url")

export const measureLargeBodies = measureDrain({
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

export const measureHttps = measureDrain({
  title: "HTTPS",
  runs: 10_000,
  call: { ...smallCall, overTls: true },
  each: "each a POST to a local receiver over HTTPS, on persistent connections",
  goal: "≥ 1.4 × graphile-worker, ≥ 1.6 × pg-boss"
})

export const measureHttpsConnections = measureDrain({
  title: "New HTTPS connections",
  runs: 2_000,
  call: { ...smallCall, overTls: true, keepsConnections: false },
  each: "each a POST to a local receiver over HTTPS that closes the connection after its response",
  goal: "≥ 1 ×"
})

interface Variant {
  readonly title: string
  /** Describes what the variant's runs have that the plain runs do not have. */
  readonly what: string
  readonly start: StartEngine
  readonly goal: string
}

/** Measures a feature's cost by comparing runs that use the feature with runs that do not. */
const measureVariant =
  ({ goal, start, title, what }: Variant) =>
  async (): Promise<Report> => {
    const work = { call: smallCall, runs: 20_000 }
    await using without = await startContender(startServiceEngine, work)
    await using having = await startContender(start, work)
    const contenders = { without: without.drain, having: having.drain }
    await alternate(1, contenders)
    const drained = await alternate(rounds, contenders)
    for (const contender of [without, having]) await contender.verify()
    const valuesOf = (name: keyof typeof drained, value: keyof DrainResult) =>
      drained[name].map((round) => round[value])
    const figures = (name: keyof typeof drained) => [
      formatSpread(valuesOf(name, "perSecond")),
      formatSpread(valuesOf(name, "micros")),
      formatSpread(valuesOf(name, "walBytes"))
    ]
    const ratioTo = (value: keyof DrainResult) =>
      `${formatSpread(ratios(valuesOf("having", value), valuesOf("without", value)))} ×`
    return {
      title,
      work: `${formatNumber(work.runs)} runs as in the drain, with and without ${what}, ${rounds} rounds in turn.`,
      columns: ["", "runs/s", "CPU µs per run, with PostgreSQL", "WAL bytes per run"],
      rows: [
        ["without", ...figures("without")],
        [`with ${what}`, ...figures("having")]
      ],
      goal,
      result: `${ratioTo("perSecond")} the runs/s, ${ratioTo("micros")} the CPU time without`
    }
  }

export const measureSecrets = measureVariant({
  title: "Secrets",
  what: "a secret in a header of each call",
  start: startServiceWithSecret,
  goal: "≥ 0.95 × the runs/s"
})

export const measureFlow = measureVariant({
  title: "Flow",
  what: "a flow key of its own for each run",
  start: startServiceWithFlow,
  goal: "≥ 0.85 × the runs/s"
})
