import { Clock, type Duration, Effect } from "effect"

/**
 * Delays a successful result until this much time has passed, so that the response time does not
 * reveal how much work was done. The delay uses the real clock even in tests, because an attacker
 * would use it too.
 */
export const withMinimumDuration =
  (time: Duration.Input) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.map(
      Effect.all([work, Effect.provideService(Effect.sleep(time), Clock.Clock, realClock)], {
        concurrency: 2
      }),
      ([answer]) => answer
    )

const realClock = Clock.Clock.defaultValue()
