import type { SqlClient, Statement } from "effect/sql"
import { isInPhase } from "../RunState.ts"

/**
 * Releases the oldest blocked run of each task that the condition on `runs` selects. A run of a
 * queue then waits there for its turn. Runs for which `unless` holds stay blocked.
 */
export const releaseBlocked = (
  sql: SqlClient.SqlClient,
  ofTasks: Statement.Fragment,
  unless: Statement.Fragment = sql`false`
) => {
  const isBlocked = sql.literal(isInPhase("blocked"))
  return sql`
  UPDATE runs
  SET
    state = CASE WHEN queue_id IS NULL THEN 'ready' ELSE 'parked' END,
    due_at = greatest(due_at, now())
  WHERE (workspace_id, id) IN (
      SELECT DISTINCT ON (task_id) workspace_id, id
      FROM runs
      WHERE ${isBlocked}
        AND ${ofTasks}
      ORDER BY task_id, id
    )
    -- Another transaction may have released the run since this statement began, and a node may have
    -- leased it.
    AND ${isBlocked}
    AND NOT ${unless}
  RETURNING id`
}
