import { Effect } from "effect"

/**
 * Repeats a statement that takes at most `batch` rows until it takes fewer. However many rows there
 * are, no statement times out.
 */
export const repeatUntilFewerThan = <E, R>(
  batch: number,
  takeSome: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    while ((yield* takeSome).length >= batch);
  })
