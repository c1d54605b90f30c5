import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { admit, findOpen } from "../transitions/admit.ts"
import { findParked, passedAtOnce } from "../queues/findParked.ts"
import { leaveQueue } from "../transitions/leaveQueue.ts"
import type { Engine } from "./Engine.ts"

const batch = 100

/** With this pause, slots that become free at once are given together. */
const pauseMs = 2

/**
 * When to try again if another node is admitting runs of the queue. It may have counted before a slot
 * became free.
 */
const busyMs = 25

/** How long to wait while the clock of the database is doubted. */
const doubtedMs = 500

/** Queues whose next run comes later than this are left to the walk over all queues. */
const rememberMs = 60_000

const firstQueue = "00000000-0000-0000-0000-000000000000"

export interface Admitter {
  /** Admits runs of the queues that were named, if they may start soon, or waits for a queue. */
  readonly admitSome: Effect.Effect<void, SqlError.SqlError>
  /**
   * Names the next queues in which runs wait. Each node walks over all queues, some per second, so
   * that no run depends on a node that knew of it.
   */
  readonly walk: Effect.Effect<void, SqlError.SqlError>
}

/**
 * Gives free slots to the runs in named queues. The loop runs `admitSome`:
 *
 * 1. `QueueChecks.take` returns the queues that were named. If there is none, the loop waits for one.
 * 2. Queues that were full a moment ago have a free slot now. Of the others, `findOpenNow` finds those
 *    that have a free slot and a run for it. Runs of deleted queues leave them.
 * 3. `admitOf`: one transaction gives the free slots to the most overdue runs
 *    (`transitions/admit.ts`). This node holds the runs that it leases, and the rest is left to be
 *    claimed.
 * 4. Queues that may have slots left, or that another node has just now, are named again.
 */
export const makeAdmitter = Effect.fnUntraced(function* (
  engine: Engine
): Effect.fn.Return<Admitter, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const { budget, clock, feedWaker, intake, queues } = engine
  let walkedTo = firstQueue

  /** Queues that were full a moment ago. If one of them is named again, it has a free slot. */
  const full = new Set<string>()

  const admitOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const likely = ids.filter((id) => full.delete(id))
    const rest = ids.filter((id) => !likely.includes(id))
    const open = [...likely, ...(yield* findOpenNow(sql, engine, rest))]
    if (open.length === 0) return
    const admitted = yield* engine.leasing(
      admit(sql, open, {
        node: engine.node,
        limit: engine.roomForQueues,
        except: [...intake.saturated(clock.now()), ...budget.waiting]
      })
    )
    engine.hold(admitted.leased)
    if (admitted.isMore) feedWaker.wake()
    for (const id of admitted.full) full.add(id)
    const others = likely.filter((id) => !full.has(id) && !admitted.busy.includes(id))
    queues.checkAt([...admitted.open, ...others], clock.now())
    queues.checkAt(admitted.busy, clock.now() + busyMs)
  })

  return {
    admitSome: Effect.gen(function* () {
      if (clock.doubt !== undefined) return yield* Effect.sleep(doubtedMs)
      const ids = queues.take(clock.now(), batch)
      if (ids.length === 0) {
        const now = clock.now()
        yield* queues.waker.wait(Math.min(rememberMs, (queues.nextMs ?? Infinity) - now))
        return
      }
      yield* admitOf(ids).pipe(
        Effect.onError(() => Effect.sync(() => queues.checkAt(ids, clock.now())))
      )
      yield* Effect.sleep(pauseMs)
    }),

    walk: Effect.gen(function* () {
      full.clear()
      const parked = yield* findParked(sql, walkedTo)
      walkedTo = parked.length < passedAtOnce ? firstQueue : (parked.at(-1)?.id ?? firstQueue)
      queues.checkAt(
        parked.map(({ id }) => id),
        clock.now()
      )
    })
  }
})

/**
 * Returns the queues that have a run for a free slot now. Queues that will have one soon are named for
 * that time, and the runs of deleted queues leave them.
 */
const findOpenNow = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { clock, feedWaker, queues }: Engine,
  ids: ReadonlyArray<string>
) {
  if (ids.length === 0) return []
  const open = yield* findOpen(sql, ids)
  const gone = open.filter(({ is_there }) => !is_there).map(({ id }) => id)
  if (gone.length > 0) {
    yield* leaveQueue(sql, gone)
    feedWaker.wake()
    queues.checkAt(gone, clock.now())
  }
  const now: Array<string> = []
  for (const { at_ms, id, is_there, now_ms } of open) {
    if (!is_there) continue
    if (at_ms <= now_ms) now.push(id)
    else if (at_ms < now_ms + rememberMs) queues.checkAt([id], clock.now() + at_ms - now_ms)
  }
  return now
})
