import { Effect } from "effect"

/**
 * Repeats a statement that takes at most `batch` rows, until it takes fewer. So no statement runs
 * into its timeout, however many rows there are.
 */
export const untilFewerThan = <E, R>(
  batch: number,
  takeSome: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    while ((yield* takeSome).length >= batch);
  })
