import { Clock, Effect } from "effect"
import { elapsedMs } from "../platform/elapsed.ts"

/**
 * The database's clock as this process sees it, so that nodes whose own clocks differ start a run
 * at the same moment. Each answer that carries `now()` is a sample, off by at most half the time it
 * took. The best sample is kept until a better or a much later one comes, or one that contradicts
 * it. A contradiction means that the clock was set, or that another server has taken over.
 */
export class DbClock {
  #offsetMs = 0
  #errorMs = Number.POSITIVE_INFINITY
  #sampledAtMs = 0

  readonly #clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  static readonly make: Effect.Effect<DbClock> = Effect.map(
    Clock.Clock,
    (clock) => new DbClock(clock)
  )

  /** Milliseconds since the epoch on the database's clock. */
  now(): number {
    return elapsedMs(this.#clock) + this.#offsetMs
  }

  /** Runs a statement that returns the database's `now()`. */
  sample<A extends { readonly now_ms: number }, E, R>(
    statement: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const sent = elapsedMs(this.#clock)
      return Effect.tap(statement, ({ now_ms }) =>
        Effect.sync(() => {
          const received = elapsedMs(this.#clock)
          const errorMs = (received - sent) / 2
          // Clocks drift by up to 100 ppm: a sample loses a tenth of a millisecond per second.
          const agedErrorMs = this.#errorMs + (received - this.#sampledAtMs) / 10_000
          const offsetMs = now_ms - (sent + received) / 2
          const isContradicted = Math.abs(offsetMs - this.#offsetMs) > errorMs + agedErrorMs
          if (errorMs > agedErrorMs && !isContradicted) return
          this.#offsetMs = offsetMs
          this.#errorMs = errorMs
          this.#sampledAtMs = received
        })
      )
    })
  }
}
