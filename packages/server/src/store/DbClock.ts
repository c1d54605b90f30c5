import { Clock, Context, Effect, Layer } from "effect"
import { elapsedMs, Waker } from "../core/index.ts"
import { readDatabaseTime, StoreClock } from "./StoreClock.ts"

/**
 * A larger deviation from the expected time is a step of the clock. A smaller one is accepted
 * immediately, because after a failover the new database server never has exactly the same time.
 */
const stepMs = 5_000

/**
 * How long a step is in doubt. A wrong time that lasts less than this has no effect. After a
 * correct step, timed work waits this long, so the value must stay well below a minute.
 */
const doubtMs = 30_000

/** The latest time that a `Date` can represent. */
const lastMs = 8.64e15

export interface Doubt {
  /** How far the database clock is ahead of the expected time. Negative if it is behind. */
  readonly aheadMs: number
  /** How long ago the step was noticed. */
  readonly lastsMs: number
}

/**
 * This process's estimate of the database clock, so that nodes with different clocks start a run at
 * the same moment. Each response with `now()` is a sample, accurate to half its duration. The best
 * sample is kept until a better or a much later one arrives, or one that contradicts it because
 * another server has taken over or the clock was stepped.
 *
 * A step is in doubt for half a minute. Meanwhile, this clock continues with the old time, and the
 * loops whose statements read `now()` wait. After that, the database clock is accepted, see ADR 47.
 */
export class DbClock {
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

  static readonly make: Effect.Effect<DbClock> = Effect.map(
    Clock.Clock,
    (clock) => new DbClock(clock)
  )

  /** Returns milliseconds since the epoch on the database clock. */
  now(): number {
    return elapsedMs(this.#clock) + this.#offsetMs
  }

  /** The latest `now()` for which the result of a statement is trusted. */
  get latestMs(): number {
    return this.#isSampled ? this.now() + stepMs : lastMs
  }

  /** The current doubt. Undefined while the database clock shows the expected time. */
  get doubt(): Doubt | undefined {
    if (this.#doubt === undefined) return undefined
    return {
      aheadMs: this.#doubt.offsetMs - this.#offsetMs,
      lastsMs: elapsedMs(this.#clock) - this.#doubt.sinceMs
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
    return this.#doubt === undefined ? elapsedMs(this.#clock) - this.#endedAtMs : 0
  }

  /** Runs a statement that returns the database's `now()`, and learns from it. */
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
      const sentMs = elapsedMs(this.#clock)
      return Effect.tap(statement, (answer) =>
        this.#learn(sentMs, elapsedMs(this.#clock), nowMs(answer))
      )
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
        return Effect.logError(begun(offsetMs - this.#offsetMs))
      }
      before.offsetMs = offsetMs
      if (receivedMs - before.sinceMs < doubtMs) return Effect.void
    }
    // A response this slow does not prove that the clock is right again.
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
    return Effect.logWarning(ended(steppedMs))
  }
}

export const DatabaseClock = Context.Reference<DbClock>("@scheduling/server/store/DatabaseClock", {
  defaultValue: () => new DbClock(Clock.Clock.defaultValue())
})

/**
 * Provides the clock of a node, through which `StoreClock` ignores a step in doubt. A `StoreClock`
 * that a test has set is kept.
 */
export const DatabaseClockLayer: Layer.Layer<never> = Layer.effect(
  StoreClock,
  Effect.map(Effect.all([StoreClock, DatabaseClock]), ([readStore, clock]) =>
    readStore === readDatabaseTime ? (sql) => clock.read(readDatabaseTime(sql)) : readStore
  )
).pipe(Layer.provideMerge(Layer.effect(DatabaseClock, DbClock.make)))

const begun = (aheadMs: number) =>
  `the database clock was stepped: it is ${distance(aheadMs)} the expected time. ` +
  `Timed work waits until the clock is right again, for at most ${doubtMs / 1_000} s. ` +
  `Check the time synchronization of the database's host`

const ended = (steppedMs: number) =>
  steppedMs === 0
    ? "the database clock shows the expected time again"
    : `the database clock stays ${distance(steppedMs)} the expected time. The service accepts the new time from now on`

const distance = (aheadMs: number) =>
  `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"}`
