import { setTimeout } from "node:timers/promises"
import { startSink } from "../support/sink.ts"
import type { Arrivals } from "../support/sinkProcess.ts"
import type { Engine, EngineOptions } from "./engine.ts"

export type StartEngine = (options: EngineOptions) => Promise<Engine>

/** The calls of one `run`, in the order in which they came to the receiver. */
export interface Round extends Arrivals {
  /** When all of them were in the history: milliseconds since the epoch. */
  readonly doneAtMs: number
}

/** Milliseconds from the time a call was due. */
export interface Lateness {
  /** Until the engine began with it. */
  readonly begun: ReadonlyArray<number>
  /** Until it was at the receiver. */
  readonly arrived: ReadonlyArray<number>
}

/** An engine, and the receiver that all its calls go to. */
export interface ObservedEngine extends AsyncDisposable {
  readonly engine: Engine
  /** Does what makes so many calls, and waits for the end of them. */
  readonly run: (calls: number, begin: () => Promise<void>) => Promise<Round>
  /** Fails unless each call so far was made once and is in the history. */
  readonly verify: () => Promise<void>
  readonly latenessOf: (round: Round) => Promise<Lateness>
}

const patienceMs = 30_000

/** After the last call at the receiver what is left is to write it down. */
const untilDone = async (engine: Engine, calls: number) => {
  const impatientAt = Date.now() + patienceMs
  while (!(await engine.isDone(calls))) {
    if (Date.now() > impatientAt) throw new Error("calls that are still not in the history")
    await setTimeout(5)
  }
}

export const observe = async (
  start: StartEngine,
  options: Omit<EngineOptions, "sinkUrl">
): Promise<ObservedEngine> => {
  await using starting = new AsyncDisposableStack()
  const sink = starting.use(await startSink())
  const engine = starting.use(await start({ ...options, sinkUrl: sink.url }))
  const stack = starting.move()
  let made = 0
  return {
    engine,
    run: async (calls, begin) => {
      const before = made
      made += calls
      await begin()
      await sink.arrivals(made)
      await untilDone(engine, made)
      const doneAtMs = Date.now()
      const { ids, times } = await sink.arrivals(made)
      return { ids: ids.slice(before), times: times.slice(before), doneAtMs }
    },
    verify: async () => {
      const { ids } = await sink.arrivals(made)
      const written = new Set((await engine.history()).map(({ id }) => id))
      const problems = [
        ids.length === made ? "" : `${ids.length} calls instead of ${made}`,
        new Set(ids).size === ids.length ? "" : "calls that were made again",
        written.size === made ? "" : `${written.size} in the history instead of ${made}`,
        ids.every((id) => written.has(id)) ? "" : "calls that the history does not know"
      ].filter((problem) => problem !== "")
      // Figures of an engine that loses or repeats calls would be worth nothing.
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
