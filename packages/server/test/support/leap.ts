import { type Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

/** The time at which each clock's current leap ends. */
const ends = new WeakMap<TestClock.TestClock, number>()

/**
 * Moves the test's clock by days or months. A sleep that starts during the leap lasts until the
 * leap ends. Otherwise, a loop that runs every ten minutes would run 25,000 times in half a year.
 */
export const leap = (duration: Duration.Input) =>
  TestClock.testClockWith((test) =>
    Effect.sync(() => {
      ends.set(test, test.currentTimeMillisUnsafe() + Duration.toMillis(duration))
    }).pipe(
      Effect.andThen(test.adjust(duration)),
      Effect.ensuring(Effect.sync(() => ends.delete(test)))
    )
  )

/** The test's clock for nodes, with support for leaps. */
export const leapingClock: Effect.Effect<Clock.Clock> = TestClock.testClockWith((test) =>
  Effect.succeed({
    ...test,
    sleep: (duration) => {
      const rest = (ends.get(test) ?? -Infinity) - test.currentTimeMillisUnsafe()
      return test.sleep(Duration.max(duration, Duration.millis(rest)))
    }
  })
)
