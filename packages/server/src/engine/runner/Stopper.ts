import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type EndSignals, Signals } from "../../events/index.ts"
import type { Waker } from "../../core/index.ts"
import { makeAfterSettled } from "../afterSettled.ts"
import { retryAfterDeadlock } from "../../store/index.ts"
import { resume } from "../transitions/resume.ts"
import { clearStoppedRuns, listStops, removeStop, type Stop } from "../transitions/stop.ts"

/** How often a node polls for stops and resumed workspaces, because it may have missed a signal. */
const pollMs = 5_000

/** The pause if other transactions have locked all remaining runs. */
const lockedMs = 100

/**
 * Clears one batch of runs of each stop, so that a long queue does not delay other stops, and
 * releases one batch of runs of resumed workspaces. Several nodes can do this at the same time,
 * because each skips locked runs.
 */
export const makeStopper = Effect.fnUntraced(function* (
  waker: Waker
): Effect.fn.Return<
  Effect.Effect<void, SqlError.SqlError>,
  never,
  SqlClient.SqlClient | Signals | EndSignals
> {
  const sql = yield* SqlClient.SqlClient
  const signals = yield* Signals
  const afterSettled = yield* makeAfterSettled

  /** Returns the number of runs found. */
  const clear = Effect.fnUntraced(function* (stop: Stop) {
    const { found, isFull, requested, settled, settlements } = yield* retryAfterDeadlock(
      sql.withTransaction(clearStoppedRuns(sql, stop))
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
    const released = yield* resume(sql)
    if (released > 0) yield* signals.wake
    found += released
    if (found === 0) yield* waker.wait(stops.length === 0 ? pollMs : lockedMs)
  })
})
