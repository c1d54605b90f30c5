import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import type { FreedSlot } from "../SettleResult.ts"
import { isInPhase } from "../RunState.ts"
import { isInStoppedWorkspace } from "../stoppedWorkspace.ts"
import { claimFound } from "./claim.ts"

/**
 * Passes freed slots on to the next runs of their queues, leases these runs to the node and starts
 * them. It must be called in the transaction that writes the results of the runs that held the
 * slots. Then as many runs hold a slot after it as before it, so the queue need not be locked, and
 * the runs of other transactions need not be visible. Queues with a rate are left out, because
 * their turns depend on time.
 *
 * Slots are only counted for queues whose concurrency was reduced, and for slots that are held for
 * lost calls.
 */
export const handOver = (
  sql: SqlClient.SqlClient,
  node: number,
  slots: ReadonlyArray<FreedSlot>
) => {
  const column = columnsOf(slots)
  const parked = sql.literal(isInPhase("parked"))
  return claimFound(sql, node, {
    due: sql`
      due AS MATERIALIZED (
        SELECT next.row_id
        FROM (
          SELECT queues.id, queues.max_concurrency, queues.held_until, count(*) AS slots
          FROM unnest(
            ${column("uuid", ({ queue_id }) => queue_id)}
          ) AS freed (queue_id)
          JOIN queues ON queues.id = freed.queue_id
          WHERE NOT queues.paused
            AND NOT ${sql.literal(isInStoppedWorkspace("queues"))}
            AND queues.rate_per_second IS NULL
          GROUP BY queues.id
        ) AS open
        CROSS JOIN LATERAL (
          SELECT ctid AS row_id, run_on
          FROM runs
          WHERE ${parked}
            AND runs.queue_id = open.id
            AND runs.due_at <= now()
          ORDER BY runs.due_at
          LIMIT greatest(0, least(
            open.slots,
            open.max_concurrency
              - (SELECT count(*) FROM unnest(open.held_until) AS held (until) WHERE until > now())
              - (
                SELECT count(*)
                FROM (
                  SELECT
                  FROM runs
                  WHERE runs.slot_queue_id = open.id
                  LIMIT open.max_concurrency
                ) AS admitted
              )
          ))
          FOR UPDATE SKIP LOCKED
        ) AS next
        WHERE next.run_on IS NULL
      )`,
    admits: true,
    reached: sql.literal("")
  })
}
