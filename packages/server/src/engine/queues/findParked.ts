import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"

const isParked = isInPhase("parked")

/** How many queues are passed at once. */
export const passedAtOnce = 500

/**
 * The next queues, after this one, in which runs wait. It hops from queue to queue, so that its cost
 * does not depend on how many runs wait in them.
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
      WHERE passed.n < ${passedAtOnce}
    )
    SELECT queue_id AS id, date_part('epoch', due_at) * 1000 AS due_ms
    FROM passed
    ORDER BY queue_id`
