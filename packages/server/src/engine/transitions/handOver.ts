import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import type { FreedSlot } from "../SettleResult.ts"
import { isInPhase } from "../RunState.ts"
import { freeSlotsSql } from "../queues/freeSlotsSql.ts"
import { anyParkedRunSql, nextParkedRunsSql } from "../queues/nextParkedRunsSql.ts"
import { isQueueInStoppedWorkspace } from "../stoppedWorkspace.ts"
import { claimFoundRuns } from "./claim.ts"

/**
 * Passes freed slots on to the next runs of their queues, leases these runs to the node and starts
 * them. Call it in the transaction that writes the results of the runs that held the slots. As many
 * runs then hold a slot after the transaction as before it. So the queue need not be locked, and it
 * does not matter that the runs of other transactions are not visible. Queues with a rate are left
 * out, because their turns depend on time.
 *
 * Slots are counted only for queues whose concurrency was reduced, and for slots that are held for
 * lost calls.
 */
export const handOver = (
  sql: SqlClient.SqlClient,
  node: number,
  slots: ReadonlyArray<FreedSlot>
) => {
  const column = columnsOf(slots)
  return claimFoundRuns(sql, node, {
    due: sql`
      due AS MATERIALIZED (
        SELECT next.row_id
        FROM (
          SELECT
            queues.id,
            greatest(0, least(
              count(*),
              ${sql.literal(freeSlotsSql)}
            )) AS slots
          FROM (
            SELECT given.queue_id
            FROM unnest(
              ${column("uuid", ({ queue_id }) => queue_id)}
            ) AS given (queue_id)
            CROSS JOIN LATERAL (${sql.literal(anyParkedRunSql("given.queue_id"))}) AS parked
            OFFSET 0
          ) AS freed
          JOIN queues ON queues.id = freed.queue_id
          WHERE NOT queues.paused
            AND NOT ${sql.literal(isQueueInStoppedWorkspace)}
            AND queues.rate_per_second IS NULL
          GROUP BY queues.id
        ) AS open
        CROSS JOIN LATERAL (
          SELECT ctid AS row_id, run_on
          FROM runs
          WHERE ctid = ANY (ARRAY(${sql.literal(nextParkedRunsSql("open.id", { limit: "open.slots", until: "now()" }))}))
            AND ${sql.literal(isInPhase("parked"))}
            AND runs.queue_id = open.id
          FOR UPDATE SKIP LOCKED
        ) AS next
        WHERE next.run_on IS NULL
      )`,
    admits: true,
    reached: sql.literal("")
  })
}
