import { setTimeout } from "node:timers/promises"
import { makeCertificate } from "../support/certificate.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { cpuTimeOf } from "../support/cpuTime.ts"
import { startSink } from "../support/sink.ts"
import type { Arrivals } from "../support/sink.ts"
import { type Engine, type EngineOptions, smallBody } from "./engine.ts"

export type StartEngine = (options: EngineOptions) => Promise<Engine>

/** The calls made during one `run`, in the order in which they reached the receiver. */
export interface Round extends Arrivals {
  /** The time at which the history contained all calls, in milliseconds since the epoch. */
  readonly doneAtMs: number
  /**
   * The CPU time per call of the engine and PostgreSQL, in microseconds. Other load on the machine
   * affects it less than it affects the duration.
   */
  readonly micros: number
  /** WAL bytes per call, for the whole PostgreSQL server. */
  readonly walBytes: number
}

/** The lateness of calls, in milliseconds. */
export interface Lateness {
  /** The delays until the engine started each call. */
  readonly begun: ReadonlyArray<number>
  /** The delays until each call reached the receiver. */
  readonly arrived: ReadonlyArray<number>
}

export interface CallShape {
  readonly body: string
  readonly answer: string
  readonly overTls: boolean
  readonly keepsConnections: boolean
}

export const smallCall: CallShape = {
  body: smallBody,
  answer: "ok",
  overTls: false,
  keepsConnections: true
}

export interface MeasuredEngineOptions extends Pick<EngineOptions, "database" | "env"> {
  readonly call?: CallShape | undefined
}

/** An engine, and the receiver for all of its calls. */
export interface MeasuredEngine extends AsyncDisposable {
  readonly engine: Engine
  /** Starts work that makes this many calls, and waits until the history contains all of them. */
  readonly run: (calls: number, begin: () => Promise<void>) => Promise<Round>
  /** Fails unless each call was made exactly once and is in the history. */
  readonly verify: () => Promise<void>
  readonly latenessOf: (round: Round) => Promise<Lateness>
}

const patienceMs = 30_000

/**
 * Waits until the history is complete. The engine writes it after the last call has reached the
 * receiver.
 */
const untilDone = async (engine: Engine, calls: number) => {
  const impatientAt = Date.now() + patienceMs
  while (!(await engine.isDone(calls))) {
    if (Date.now() > impatientAt) throw new Error("some calls are still missing from the history")
    await setTimeout(5)
  }
}

export const startMeasuredEngine = async (
  start: StartEngine,
  { call = smallCall, database, env }: MeasuredEngineOptions
): Promise<MeasuredEngine> => {
  await using starting = new AsyncDisposableStack()
  const certificate = call.overTls ? starting.use(makeCertificate()) : undefined
  const sink = starting.use(await startSink({ ...call, certificate }))
  const trusted = certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate.file }
  const engine = starting.use(
    await start({ database, body: call.body, sinkUrl: sink.url, env: { ...env, ...trusted } })
  )
  const databaseWatch = starting.use(await watchDatabase(database))
  const stack = starting.move()
  let made = 0
  return {
    engine,
    run: async (calls, begin) => {
      const before = made
      made += calls
      const engineMs = cpuTimeOf(engine.pid)
      await databaseWatch.since()
      await begin()
      // Excludes the WAL written while adding the work.
      const toBegin = await databaseWatch.since()
      await sink.arrivals(made)
      await untilDone(engine, made)
      const doneAtMs = Date.now()
      const used = await databaseWatch.since()
      const cpuMs = cpuTimeOf(engine.pid) - engineMs + toBegin.cpuMs + used.cpuMs
      const { ids, times } = await sink.arrivals(made)
      return {
        ids: ids.slice(before),
        times: times.slice(before),
        doneAtMs,
        micros: (cpuMs * 1_000) / calls,
        walBytes: used.walBytes / calls
      }
    },
    verify: async () => {
      const { ids } = await sink.arrivals(made)
      const written = new Set((await engine.history()).map(({ id }) => id))
      const problems = [
        ids.length === made ? "" : `${ids.length} calls instead of ${made}`,
        new Set(ids).size === ids.length ? "" : "calls were repeated",
        written.size === made ? "" : `${written.size} in the history instead of ${made}`,
        ids.every((id) => written.has(id)) ? "" : "calls are missing from the history"
      ].filter((problem) => problem !== "")
      // Measurements are worthless if the engine loses or repeats calls.
      if (problems.length > 0) throw new Error(problems.join(", "))
    },
    latenessOf: async ({ ids, times }) => {
      const history = new Map((await engine.history()).map((call) => [call.id, call]))
      const calls = ids.map((id) => history.get(id) ?? { dueMs: Number.NaN, startedMs: Number.NaN })
      return {
        begun: calls.map(({ dueMs, startedMs }) => startedMs - dueMs),
        arrived: calls.map(({ dueMs }, n) => (times[n] ?? Number.NaN) - dueMs)
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync()
  }
}
