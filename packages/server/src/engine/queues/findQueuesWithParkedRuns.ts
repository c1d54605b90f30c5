import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"

const isParked = isInPhase("parked")

/** Maximum number of queues in one pass. */
export const maxQueuesPerPass = 500

/**
 * Finds the next queues after `after`, up to `last`, that have parked runs. The query skips from
 * queue to queue, so that its cost does not depend on the number of parked runs.
 */
export const findQueuesWithParkedRuns = (sql: SqlClient.SqlClient, after: string, last: string) =>
  sql<{ readonly id: string }>`
    WITH RECURSIVE passed AS (
      SELECT 1 AS n, first.*
      FROM (
        SELECT queue_id
        FROM runs
        WHERE ${sql.literal(isParked)}
          AND queue_id > ${after}::uuid
          AND queue_id <= ${last}::uuid
        ORDER BY queue_id
        LIMIT 1
      ) AS first
      UNION ALL
      SELECT passed.n + 1, next.*
      FROM passed
      CROSS JOIN LATERAL (
        SELECT queue_id
        FROM runs
        WHERE ${sql.literal(isParked)}
          AND queue_id > passed.queue_id
          AND queue_id <= ${last}::uuid
        ORDER BY queue_id
        LIMIT 1
      ) AS next
      WHERE passed.n < ${maxQueuesPerPass}
    )
    SELECT queue_id AS id
    FROM passed
    ORDER BY queue_id`
