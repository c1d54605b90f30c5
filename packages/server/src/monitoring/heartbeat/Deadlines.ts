import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { loop, stuckRestartOptions } from "../../core/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { heartbeatAfterClockSetBack, decideHeartbeat } from "./decideHeartbeat.ts"
import { heartbeatState } from "./HeartbeatRow.ts"
import { HeartbeatsRepo } from "./HeartbeatsRepo.ts"
import { toStatusChanges, toHeartbeatEvents } from "./heartbeatEvents.ts"

/**
 * How long after its deadline a heartbeat is checked. This leaves time to write a ping that arrived
 * before the deadline.
 */
const patienceMs = 250

/**
 * The maximum time between two queries for deadlines. The queries are repeated, because another
 * node can create an earlier deadline.
 */
const pollEveryMs = 500

const batch = 500

const firstMonitor = "00000000-0000-0000-0000-000000000000"

/** Opens incidents for heartbeats that received no ping by their deadline. */
export class Deadlines extends Context.Service<
  Deadlines,
  {
    /**
     * Updates heartbeats whose deadline has passed, and returns the number of milliseconds until
     * the next check. Any number of nodes can do this at the same time, because only one of them
     * locks each row.
     */
    readonly check: Effect.Effect<number>
    readonly correctTimes: Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/heartbeat/Deadlines") {
  static readonly layer: Layer.Layer<
    Deadlines,
    never,
    HeartbeatsRepo | MonitorEventsRepo | SqlClient.SqlClient | StatusChanges
  > = Layer.effect(
    Deadlines,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const events = yield* MonitorEventsRepo
      const repo = yield* HeartbeatsRepo
      const statusChanges = yield* StatusChanges

      const decideDue = Effect.fnUntraced(function* (at: Date) {
        const rows = yield* repo.findDueForUpdate(at, batch)
        const decided = rows.map((row) => ({
          row,
          ...decideHeartbeat(row, heartbeatState(row), { type: "time" }, at.getTime())
        }))
        yield* repo.updateLocked(decided)
        yield* events.insert(decided.flatMap(({ records, row }) => toHeartbeatEvents(row, records)))
        yield* statusChanges.record(
          decided.flatMap(({ changes, row }) => toStatusChanges(row, changes))
        )
        return rows.length
      }, transactionOf(sql))

      /**
       * Corrects a batch of heartbeats. Returns the last one's id, or undefined if there are no
       * more.
       */
      const correctBatch = Effect.fnUntraced(function* (after: string) {
        const at = yield* now
        const rows = yield* repo.findChangedAfterForUpdate(at, after, batch)
        yield* repo.updateLocked(
          rows.map((row) => ({
            row,
            state: heartbeatAfterClockSetBack(row, heartbeatState(row), at.getTime())
          }))
        )
        return rows.length < batch ? undefined : rows.at(-1)?.monitor_id
      }, transactionOf(sql))

      return Deadlines.of({
        correctTimes: Effect.gen(function* () {
          for (let after: string | undefined = firstMonitor; after !== undefined;) {
            after = yield* correctBatch(after)
          }
        }),

        check: Effect.gen(function* () {
          const nowMs = (yield* now).getTime()
          const by = new Date(nowMs - patienceMs)
          // The next deadline is read before a transaction begins, because usually no deadline has
          // passed.
          const next = yield* repo.findNextCheck
          if (next === undefined) return pollEveryMs
          const dueInMs = next.getTime() - by.getTime()
          if (dueInMs >= 0) return Math.min(dueInMs + 1, pollEveryMs)
          yield* decideDue(by)
          return 0
        })
      })
    })
  )
}

/** Checks deadlines on every node that makes calls, so that the checks continue if a node stops. */
export const DeadlinesLayer: Layer.Layer<never, never, Deadlines> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { check } = yield* Deadlines
    yield* Effect.forkScoped(
      loop("checking the deadlines of heartbeats", check, {
        ...stuckRestartOptions,
        between: (ms) => Effect.sleep(ms)
      })
    )
  })
)
