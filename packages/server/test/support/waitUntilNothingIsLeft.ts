import { type Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

/**
 * Repeats the query until it finds nothing, for at most twenty seconds, and advances the test's
 * clock once per second. On a busy machine, a node's loop can start waiting late, or wait longer
 * after an error such as a lock timeout.
 */
export const waitUntilNothingIsLeft = <E, R>(
  query: Effect.Effect<ReadonlyArray<unknown>, E, R>,
  step: Duration.Input
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    let left: ReadonlyArray<unknown> = []
    for (let attempt = 1; attempt <= 1_000; attempt++) {
      left = yield* query
      if (left.length === 0) return
      yield* TestClock.withLive(Effect.sleep(20))
      if (attempt % 50 === 0) yield* TestClock.adjust(step)
    }
    return yield* Effect.die(new Error(`these are left: ${JSON.stringify(left).slice(0, 2_000)}`))
  })
