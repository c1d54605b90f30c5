import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"
import { isInStoppedWorkspace } from "../stoppedWorkspace.ts"

/** Maximum number of runs that one statement releases. */
const batch = 500

const isHeld = `${isInPhase("parked")} AND queue_id IS NULL`

/**
 * Releases a batch of runs that were parked while their workspace was stopped, the most overdue
 * first, and returns their number. Runs of a named queue are admitted by their queue. The query
 * skips from workspace to workspace, so that its cost does not depend on the number of runs of
 * workspaces that are still stopped.
 */
export const resume = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [released] = yield* sql<{ readonly runs: number }>`
    WITH RECURSIVE held AS (
      (
        SELECT workspace_id
        FROM runs
        WHERE ${sql.literal(isHeld)}
        ORDER BY workspace_id
        LIMIT 1
      )
      UNION ALL
      SELECT next.*
      FROM held
      CROSS JOIN LATERAL (
        SELECT workspace_id
        FROM runs
        WHERE ${sql.literal(isHeld)}
          AND workspace_id > held.workspace_id
        ORDER BY workspace_id
        LIMIT 1
      ) AS next
    ), released AS (
      UPDATE runs
      SET state = 'ready', due_at = greatest(due_at, now())
      WHERE ctid = ANY (ARRAY(
          SELECT row_id
          FROM held
          CROSS JOIN LATERAL (
            SELECT ctid AS row_id
            FROM runs
            WHERE ${sql.literal(isHeld)}
              AND workspace_id = held.workspace_id
            ORDER BY due_at
            LIMIT ${batch}
            FOR UPDATE SKIP LOCKED
          ) AS picked
          WHERE NOT ${sql.literal(isInStoppedWorkspace("held"))}
          LIMIT ${batch}
        ))
      RETURNING id
    )
    SELECT count(*)::int AS runs
    FROM released`
  return released?.runs ?? 0
})
