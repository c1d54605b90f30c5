import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { admit, findOpen } from "../transitions/admit.ts"
import { findParked, passedAtOnce } from "../queues/findParked.ts"
import { leaveQueue } from "../transitions/leaveQueue.ts"
import type { Engine } from "./Engine.ts"

const batch = 100

/** With this pause, what happens at once is handled together. */
const pauseMs = 2

/** Another node has the queue, and may have counted before a place became free. */
const busyMs = 25

/** How long to wait while the clock of the database is doubted. */
const doubtedMs = 500

/** Later looks are left to the walk over all queues. */
const rememberMs = 60_000

const firstQueue = "00000000-0000-0000-0000-000000000000"

export interface Admitting {
  /** Admits what may start soon of the queues that are to be looked at, or waits for one. */
  readonly admitSome: Effect.Effect<void, SqlError.SqlError>
  /**
   * Names the next queues in which runs wait. Each node walks over all queues, some per second, so
   * that no run depends on a node that knew of it.
   */
  readonly walk: Effect.Effect<void, SqlError.SqlError>
}

/**
 * Gives runs in named queues their turn.
 *
 * 1. `admitSome` takes the queues that were named, or waits for one.
 * 2. Queues that were full a moment ago have a free slot now. Of the others, one statement says which
 *    have a free slot and a run for it (`findOpen`). Runs of deleted queues are let go.
 * 3. One transaction gives the free slots to the most overdue runs (`transitions/admit.ts`). What it
 *    leases is held by this node, and the rest is left to be claimed.
 * 4. Queues that may have slots left, or that another node has just now, are named again.
 */
export const makeAdmitting = Effect.fnUntraced(function* (
  engine: Engine
): Effect.fn.Return<Admitting, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const { budget, clock, feedBell, intake, queues } = engine
  let walkedTo = firstQueue

  /** Queues that were full a moment ago. One of them that is named again has a free place. */
  const full = new Set<string>()

  /** Those that have a run for a free place now. */
  const openOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    if (ids.length === 0) return []
    const open = yield* findOpen(sql, ids)
    const gone = open.filter(({ is_there }) => !is_there).map(({ id }) => id)
    if (gone.length > 0) {
      yield* leaveQueue(sql, gone)
      feedBell.ring()
      queues.look(gone, clock.now())
    }
    const now: Array<string> = []
    for (const { at_ms, id, is_there, now_ms } of open) {
      if (!is_there) continue
      if (at_ms <= now_ms) now.push(id)
      else if (at_ms < now_ms + rememberMs) queues.look([id], clock.now() + at_ms - now_ms)
    }
    return now
  })

  const admitOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const likely = ids.filter((id) => full.delete(id))
    const open = [...likely, ...(yield* openOf(ids.filter((id) => !likely.includes(id))))]
    if (open.length === 0) return
    const admitted = yield* engine.leasing(
      admit(sql, open, {
        node: engine.node,
        limit: engine.roomForQueues,
        except: [...intake.saturated(clock.now()), ...budget.waiting]
      })
    )
    engine.hold(admitted.leased)
    if (admitted.isMore) feedBell.ring()
    for (const id of admitted.full) full.add(id)
    const others = likely.filter((id) => !full.has(id) && !admitted.busy.includes(id))
    queues.look([...admitted.open, ...others], clock.now())
    queues.look(admitted.busy, clock.now() + busyMs)
  })

  return {
    admitSome: Effect.gen(function* () {
      if (clock.doubt !== undefined) return yield* Effect.sleep(doubtedMs)
      const ids = queues.take(clock.now(), batch)
      if (ids.length === 0) {
        const now = clock.now()
        yield* queues.bell.wait(Math.min(rememberMs, (queues.nextMs ?? Infinity) - now))
        return
      }
      yield* admitOf(ids).pipe(
        Effect.onError(() => Effect.sync(() => queues.look(ids, clock.now())))
      )
      yield* Effect.sleep(pauseMs)
    }),

    walk: Effect.gen(function* () {
      full.clear()
      const parked = yield* findParked(sql, walkedTo)
      walkedTo = parked.length < passedAtOnce ? firstQueue : (parked.at(-1)?.id ?? firstQueue)
      queues.look(
        parked.map(({ id }) => id),
        clock.now()
      )
    })
  }
})
