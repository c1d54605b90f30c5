import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"

const isParked = isInPhase("parked")

/** Maximum number of queues in one pass. */
export const maxQueuesPerPass = 500

/**
 * Finds the next queues after `after` that have parked runs. The query skips from queue to queue,
 * so that its cost does not depend on the number of parked runs.
 */
export const findParked = (sql: SqlClient.SqlClient, after: string) =>
  sql<{ readonly id: string; readonly due_ms: number }>`
    WITH RECURSIVE passed AS (
      SELECT 1 AS n, first.*
      FROM (
        SELECT queue_id, due_at
        FROM runs
        WHERE ${sql.literal(isParked)}
          AND queue_id > ${after}::uuid
        ORDER BY queue_id, due_at
        LIMIT 1
      ) AS first
      UNION ALL
      SELECT passed.n + 1, next.*
      FROM passed
      CROSS JOIN LATERAL (
        SELECT queue_id, due_at
        FROM runs
        WHERE ${sql.literal(isParked)}
          AND queue_id > passed.queue_id
        ORDER BY queue_id, due_at
        LIMIT 1
      ) AS next
      WHERE passed.n < ${maxQueuesPerPass}
    )
    SELECT queue_id AS id, date_part('epoch', due_at) * 1000 AS due_ms
    FROM passed
    ORDER BY queue_id`
