import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Endings } from "./Endings.ts"
import type { Doorbell } from "./Loop.ts"
import { Partitions } from "./Partitions.ts"
import { timeOfId } from "./RunId.ts"
import { Signals } from "./Signals.ts"
import { clearSome, findToClear, listStops, removeStop, type Stop } from "./Stop.ts"

/** Nodes are told of a stop; this is for those that did not hear it. */
const pollMs = 5_000

/** Another transaction has locked what is left. */
const lockedMs = 100

/**
 * One round of clearing away what was stopped: a batch of each stop, so that a long queue holds up
 * none of the others. Nodes do so side by side, each with runs that no other has locked.
 */
export const makeStopper = Effect.fnUntraced(function* (
  bell: Doorbell
): Effect.fn.Return<
  Effect.Effect<void, SqlError.SqlError>,
  never,
  SqlClient.SqlClient | Signals | Endings | Partitions
> {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Signals
  const endings = yield* Endings
  const partitions = yield* Partitions

  /** Answers how many runs were found. */
  const clear = Effect.fnUntraced(function* (stop: Stop) {
    const { ended, found, isFull, requested } = yield* clearSome(sql, stop).pipe(
      sql.withTransaction,
      // Runs that waited for weeks without a node belong to days that nobody has made.
      Effect.tapError(() =>
        Effect.flatMap(findToClear(sql, stop), (ids) => partitions.ensure(ids.map(timeOfId)))
      )
    )
    endings.tell(ended)
    yield* signals.cancel(requested)
    if (!isFull) yield* removeStop(sql, stop)
    return found
  })

  return Effect.gen(function* () {
    const stops = yield* listStops(sql)
    let found = 0
    for (const stop of stops) found += yield* clear(stop)
    if (found === 0) yield* bell.wait(stops.length === 0 ? pollMs : lockedMs)
  })
})
