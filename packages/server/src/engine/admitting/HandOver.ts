import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import type { LeftPlace } from "../ending/Settled.ts"
import { claimFound } from "../starting/Claim.ts"

/**
 * Gives the places of runs to the next ones of their queues, leases those to the node and starts
 * them. It must be in the transaction that writes how the runs have ended. Then as many runs have a
 * place after it as before it, so the queue need not be locked, and the runs of other transactions
 * need not be seen. Queues with a rate are left out, because their turns come with time.
 *
 * Counting is for queues that allow less than they did, and for places that are held for calls that
 * were lost.
 */
export const handOver = (
  sql: SqlClient.SqlClient,
  node: number,
  places: ReadonlyArray<LeftPlace>
) => {
  const column = columnsOf(places)
  return claimFound(sql, node, {
    due: sql`
      due AS MATERIALIZED (
        SELECT next.place
        FROM (
          SELECT queues.id, queues.max_concurrency, queues.held_until, count(*) AS places
          FROM unnest(
            ${column("uuid", ({ queue_id }) => queue_id)},
            ${column("uuid", ({ workspace_id }) => workspace_id)},
            ${column("uuid", ({ heir }) => heir)}
          ) AS ended (queue_id, workspace_id, heir)
          JOIN queues ON queues.id = ended.queue_id
          WHERE NOT queues.paused
            AND queues.rate_per_second IS NULL
            AND NOT EXISTS (
              SELECT
              FROM runs
              WHERE runs.workspace_id = ended.workspace_id
                AND runs.id = ended.heir
                AND runs.queue_id = ended.queue_id
                AND NOT runs.waiting
            )
          GROUP BY queues.id
        ) AS open
        CROSS JOIN LATERAL (
          SELECT ctid AS place, run_on
          FROM runs
          WHERE runs.parked
            AND runs.queue_id = open.id
            AND runs.due_at <= now()
          ORDER BY runs.due_at
          LIMIT greatest(0, least(
            open.places,
            open.max_concurrency
              - (SELECT count(*) FROM unnest(open.held_until) AS held (until) WHERE until > now())
              - (
                SELECT count(*)
                FROM (
                  SELECT
                  FROM runs
                  WHERE runs.queue_id = open.id
                    AND NOT runs.waiting
                  LIMIT open.max_concurrency
                ) AS admitted
              )
          ))
          FOR UPDATE SKIP LOCKED
        ) AS next
        WHERE next.run_on IS NULL
      )`,
    admits: sql`, waiting = false, parked = false, due_at = greatest(runs.due_at, now())`,
    reached: sql.literal("")
  })
}
