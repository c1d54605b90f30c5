import { Clock, type Duration, Effect } from "effect"

/**
 * Delays success until this time, so that the response time does not reveal how much work was done.
 * It uses the real clock, as an attacker does.
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
