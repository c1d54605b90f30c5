import { Clock, Context, Effect, Layer } from "effect"
import { elapsedMs, Waker } from "../core/index.ts"
import { readDatabaseTime, StoreClock } from "./StoreClock.ts"

/**
 * The minimum deviation from the expected time that counts as a step of the clock. A smaller
 * deviation is accepted immediately, because after a failover the new database server never has
 * exactly the same time.
 */
const stepMs = 5_000

/**
 * How long a step is in doubt. A wrong time that lasts less than this has no effect. Timed work
 * waits this long even after a correct step, so the value must stay well below a minute.
 */
const doubtMs = 30_000

/** The latest time that a `Date` can represent. */
const lastMs = 8.64e15

export interface ClockDoubt {
  /** How far the database clock is ahead of the expected time. Negative if it is behind. */
  readonly aheadMs: number
  /** How long ago the step was detected. */
  readonly lastsMs: number
}

/**
 * The estimate of the database clock by this process. With it, nodes with different clocks start a
 * run at the same moment. Each response with `now()` is a sample whose error is at most half of its
 * duration. The best sample is used until a better one, a much later one or a contradicting one
 * arrives. A contradiction means that another server has taken over or that the clock was stepped.
 *
 * A step is in doubt for half a minute. During this time, the estimate continues from the old time,
 * and loops whose statements read `now()` wait. After that, the database clock is accepted: see ADR
 * 47.
 */
export class DatabaseClockEstimate {
  #offsetMs = 0
  #errorMs = Number.POSITIVE_INFINITY
  #sampledAtMs = 0
  #doubt: { offsetMs: number; readonly sinceMs: number } | undefined
  #steps = 0

  #endedSteps = 0
  #endedAtMs = Number.NEGATIVE_INFINITY

  /**
   * Wakes when a step is no longer in doubt, because the clock was corrected or the new time was
   * accepted.
   */
  readonly steppedWaker = new Waker()

  readonly #clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  static readonly make: Effect.Effect<DatabaseClockEstimate> = Effect.map(
    Clock.Clock,
    (clock) => new DatabaseClockEstimate(clock)
  )

  /** Returns the milliseconds since the epoch on the database clock. */
  now(): number {
    return this.elapsedMs + this.#offsetMs
  }

  /** The milliseconds on a clock that steps do not change. */
  get elapsedMs(): number {
    return elapsedMs(this.#clock)
  }

  /** The latest `now()` for which the result of a statement is trusted. */
  get latestMs(): number {
    return this.#isSampled ? this.now() + stepMs : lastMs
  }

  /** The current doubt. Undefined while the database clock shows the expected time. */
  get doubt(): ClockDoubt | undefined {
    if (this.#doubt === undefined) return undefined
    return {
      aheadMs: this.#doubt.offsetMs - this.#offsetMs,
      lastsMs: this.elapsedMs - this.#doubt.sinceMs
    }
  }

  /** The number of steps since the process started. */
  get steps(): number {
    return this.#steps
  }

  /**
   * The number of steps that are no longer in doubt: the clock was corrected, or the new time was
   * accepted.
   */
  get endedSteps(): number {
    return this.#endedSteps
  }

  /**
   * The time since the last doubt ended. Leases that were written during a step may have a wrong
   * time.
   */
  get steadyForMs(): number {
    return this.#doubt === undefined ? this.elapsedMs - this.#endedAtMs : 0
  }

  /** Runs a statement that returns the database's `now()`, and uses its result as a sample. */
  sample<A extends { readonly now_ms: number }, E, R>(
    statement: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return this.#measured(statement, ({ now_ms }) => now_ms)
  }

  /**
   * Runs a statement that returns only the database time. While a step is in doubt, returns the
   * expected time instead.
   */
  read<E, R>(statement: Effect.Effect<Date, E, R>): Effect.Effect<Date, E, R> {
    return Effect.map(
      this.#measured(statement, (now) => now.getTime()),
      (now) => (this.#doubt === undefined ? now : new Date(this.now()))
    )
  }

  get #isSampled(): boolean {
    return this.#errorMs < Number.POSITIVE_INFINITY
  }

  #measured<A, E, R>(statement: Effect.Effect<A, E, R>, nowMs: (answer: A) => number) {
    return Effect.suspend(() => {
      const sentMs = this.elapsedMs
      return Effect.tap(statement, (answer) => this.#learn(sentMs, this.elapsedMs, nowMs(answer)))
    })
  }

  #learn(sentMs: number, receivedMs: number, nowMs: number): Effect.Effect<void> {
    const errorMs = (receivedMs - sentMs) / 2
    // Clocks drift by up to 100 ppm, so the error of a sample grows by a tenth of a millisecond per
    // second.
    const agedErrorMs = this.#errorMs + (receivedMs - this.#sampledAtMs) / 10_000
    const offsetMs = nowMs - (sentMs + receivedMs) / 2
    const contradictionMs = Math.abs(offsetMs - this.#offsetMs) - errorMs - agedErrorMs
    const before = this.#doubt
    if (contradictionMs > stepMs) {
      if (before === undefined) {
        this.#doubt = { offsetMs, sinceMs: receivedMs }
        this.#steps++
        return Effect.logError(stepBegunMessage(offsetMs - this.#offsetMs))
      }
      before.offsetMs = offsetMs
      if (receivedMs - before.sinceMs < doubtMs) return Effect.void
    }
    // A response that took this long does not prove that the clock is right again.
    if (before !== undefined && errorMs > stepMs) return Effect.void
    const steppedMs = contradictionMs > stepMs ? offsetMs - this.#offsetMs : 0
    if (before !== undefined || errorMs <= agedErrorMs || contradictionMs > 0) {
      this.#offsetMs = offsetMs
      this.#errorMs = errorMs
      this.#sampledAtMs = receivedMs
    }
    if (before === undefined) return Effect.void
    this.#doubt = undefined
    this.#endedSteps++
    this.#endedAtMs = receivedMs
    this.steppedWaker.wake()
    return Effect.logWarning(stepEndedMessage(steppedMs))
  }
}

export const DatabaseClock = Context.Reference<DatabaseClockEstimate>(
  "@scheduling/server/store/DatabaseClock",
  {
    defaultValue: () => new DatabaseClockEstimate(Clock.Clock.defaultValue())
  }
)

/**
 * Provides the clock of a node. Through it, `StoreClock` ignores a step that is in doubt. If a test
 * has set `StoreClock`, it is kept.
 */
export const DatabaseClockLayer: Layer.Layer<never> = Layer.effect(
  StoreClock,
  Effect.map(Effect.all([StoreClock, DatabaseClock]), ([readStore, clock]) =>
    readStore === readDatabaseTime ? (sql) => clock.read(readDatabaseTime(sql)) : readStore
  )
).pipe(Layer.provideMerge(Layer.effect(DatabaseClock, DatabaseClockEstimate.make)))

const stepBegunMessage = (aheadMs: number) =>
  `the database clock was stepped: it is ${distance(aheadMs)} the expected time. ` +
  `Timed work waits until the clock is right again, for at most ${doubtMs / 1_000} s. ` +
  `Check the time synchronization of the database's host`

const stepEndedMessage = (steppedMs: number) =>
  steppedMs === 0
    ? "the database clock shows the expected time again"
    : `the database clock stays ${distance(steppedMs)} the expected time. The service accepts the new time from now on`

const distance = (aheadMs: number) =>
  `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"}`
