import { type Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

/**
 * Repeats the question until the answer holds, for at most twenty seconds. It advances the test's
 * clock at once and then once per second, because a node's loop can start waiting late on a busy
 * machine, or wait longer after an error such as a lock timeout.
 */
export const advanceUntil = <A, E, R>(
  step: Duration.Input,
  question: Effect.Effect<A, E, R>,
  holds: (answer: A) => boolean
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    let answer = yield* question
    for (let attempt = 1; attempt <= 1_000 && !holds(answer); attempt++) {
      yield* TestClock.withLive(Effect.sleep(20))
      if (attempt % 50 === 1) yield* TestClock.adjust(step)
      answer = yield* question
    }
    if (holds(answer)) return answer
    return yield* Effect.die(
      new Error(`it did not come true: ${JSON.stringify(answer)?.slice(0, 2_000)}`)
    )
  })

/** Advances the test's clock until the query finds nothing. */
export const advanceUntilEmpty = <E, R>(
  step: Duration.Input,
  query: Effect.Effect<ReadonlyArray<unknown>, E, R>
) => advanceUntil(step, query, (rows) => rows.length === 0)
