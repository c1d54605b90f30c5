import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Endings, Signals } from "../../events/index.ts"
import type { Doorbell } from "../../core/index.ts"
import { makeAfterSettled } from "../afterSettled.ts"
import { againAfterCollision } from "../../store/index.ts"
import { clearSome, listStops, removeStop, type Stop } from "../transitions/stop.ts"

/** Nodes are told of a stop. This is for nodes that did not hear it. */
const pollMs = 5_000

/** The pause if other transactions have locked all that is left. */
const lockedMs = 100

/**
 * One round of clearing the queue of stopped runs: a batch per stop, so that a long queue does not
 * hold up the others. Nodes do so side by side, each with runs that no other has locked.
 */
export const makeStopper = Effect.fnUntraced(function* (
  bell: Doorbell
): Effect.fn.Return<
  Effect.Effect<void, SqlError.SqlError>,
  never,
  SqlClient.SqlClient | Signals | Endings
> {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Signals
  const afterSettled = yield* makeAfterSettled

  /** Returns how many runs were found. */
  const clear = Effect.fnUntraced(function* (stop: Stop) {
    const { found, isFull, requested, settled, settlements } = yield* againAfterCollision(
      sql.withTransaction(clearSome(sql, stop))
    )
    yield* afterSettled(settlements, settled)
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
