import { Clock, type Duration, Effect } from "effect"

/**
 * Succeeds after this time at the earliest, so that the time of an answer does not tell what there
 * was to do. By the real clock, which is what a stranger has.
 */
export const noSoonerThan =
  (time: Duration.Input) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.map(
      Effect.all([work, Effect.provideService(Effect.sleep(time), Clock.Clock, realClock)], {
        concurrency: 2
      }),
      ([answer]) => answer
    )

const realClock = Clock.Clock.defaultValue()
