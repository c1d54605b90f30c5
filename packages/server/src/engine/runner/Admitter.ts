import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { admit, findOpenQueues } from "../transitions/admit.ts"
import { findDueInFlows, firstFlowId, flowScanStart } from "../queues/flows.ts"
import { findQueuesWithParkedRuns, maxQueuesPerPass } from "../queues/findQueuesWithParkedRuns.ts"
import { leaveQueue } from "../transitions/leaveQueue.ts"
import type { EngineState } from "./EngineState.ts"

const batch = 500

/** The pause in which the admitter gathers slots that become free at about the same time. */
const pauseMs = 2

/**
 * The delay before a retry if another node is admitting runs of the queue. That node may have
 * counted the slots before a slot became free.
 */
const busyMs = 25

/** The delay while the database clock is in doubt. */
const doubtedMs = 500

/**
 * The latest time for which a check of a queue is scheduled. Queues whose next run is due later are
 * found by the walk over all queues.
 */
const rememberMs = 60_000

const firstQueue = "00000000-0000-0000-0000-000000000000"
const lastQueue = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export interface Admitter {
  /**
   * Checks the queues that are due for a check, and admits runs that may start soon. Waits while no
   * queue is due.
   */
  readonly admitSome: Effect.Effect<void, SqlError.SqlError>
  /**
   * Adds the next queues that have parked runs, and the flows whose runs have become due, to the
   * queues to check. Each node goes through all queues, a few per second, so that runs are admitted
   * even if the node that remembered their queue has stopped.
   */
  readonly walk: Effect.Effect<void, SqlError.SqlError>
}

/**
 * Gives free slots of named queues to parked runs. The loop runs `admitSome`:
 *
 * 1. `QueueChecks.take` returns the queues to check. If there are none, the loop waits.
 * 2. Queues that have just been full have a free slot now. For the others, `findOpenNow` finds
 *    those that have both a free slot and a run for it. Runs of deleted queues are released.
 * 3. `admitOf`: one transaction gives the free slots to the most overdue runs
 *    (`transitions/admit.ts`). This node holds the runs that it leases; the others can be claimed
 *    by any node.
 * 4. Queues that may have more slots, or that another node is admitting, are checked again.
 */
export const makeAdmitter = Effect.fnUntraced(function* (
  engine: EngineState
): Effect.fn.Return<Admitter, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const { budget, clock, claimWaker, leasedRuns, queues } = engine
  const walkNamed = walkOver(sql, firstQueue, firstFlowId)
  const walkFlows = walkOver(sql, firstFlowId, lastQueue)
  let dueInFlows = flowScanStart

  /**
   * The named queues that had no free slot at their last check. The next check of such a queue
   * happens because a slot has become free, so it need not look for a free slot. Keys of flows are
   * not remembered, because most of them have no further run.
   */
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
        except: [...leasedRuns.saturated(clock.now()), ...budget.waiting]
      })
    )
    engine.hold(admitted.leased)
    if (admitted.isMore) claimWaker.wake()
    for (const id of admitted.full) if (id < firstFlowId) full.add(id)
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
      queues.checkAt([...(yield* walkNamed), ...(yield* walkFlows)], clock.now())
      const [due] = yield* findDueInFlows(sql, dueInFlows)
      if (due === undefined) return
      dueInFlows = due
      queues.checkAt(due.queues, clock.now())
    })
  }
})

/**
 * Returns the next queues of a range that have parked runs. After the last queue of the range, it
 * begins again.
 */
const walkOver = (sql: SqlClient.SqlClient, first: string, last: string) => {
  let walkedTo = first
  return Effect.gen(function* () {
    const ids = (yield* findQueuesWithParkedRuns(sql, walkedTo, last)).map(({ id }) => id)
    walkedTo = ids.length < maxQueuesPerPass ? first : (ids.at(-1) ?? first)
    return ids
  })
}

/**
 * Returns the queues that have a run for a free slot now. Queues that will have one soon are
 * scheduled for a later check. Runs of deleted queues are released.
 */
const findOpenNow = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { clock, claimWaker, queues }: EngineState,
  ids: ReadonlyArray<string>
) {
  if (ids.length === 0) return []
  const open = yield* findOpenQueues(sql, ids)
  const gone = open.filter(({ is_there }) => !is_there).map(({ id }) => id)
  if (gone.length > 0) {
    yield* leaveQueue(sql, gone)
    claimWaker.wake()
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
