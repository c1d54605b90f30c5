import type { SqlClient, Statement } from "effect/sql"
import { isInPhase } from "../RunState.ts"

interface ReleaseOptions {
  /** A query for the `task_id` of each task whose oldest blocked run is released. */
  readonly tasks: Statement.Fragment
  /** A query for the ids of blocked runs that do not count. */
  readonly except?: Statement.Fragment
  /** The condition under which a run stays blocked. */
  readonly unless?: Statement.Fragment
}

/**
 * Releases the oldest blocked run of each task. A run of a queue then waits there for its turn. A
 * task can have thousands of blocked runs, and only the oldest one is read.
 */
export const releaseBlocked = (
  sql: SqlClient.SqlClient,
  { except, tasks, unless = sql`false` }: ReleaseOptions
) => {
  const isBlocked = sql.literal(isInPhase("blocked"))
  return sql`
  UPDATE runs
  SET
    state = CASE WHEN queue_id IS NULL THEN 'ready' ELSE 'parked' END,
    due_at = greatest(due_at, now())
  WHERE (workspace_id, id) IN (
      SELECT oldest.workspace_id, oldest.id
      FROM (${tasks}) AS waiting
      CROSS JOIN LATERAL (
        SELECT workspace_id, id
        FROM runs
        WHERE ${isBlocked}
          AND task_id = waiting.task_id
          ${except === undefined ? sql.literal("") : sql`AND id NOT IN (${except})`}
        ORDER BY id
        LIMIT 1
      ) AS oldest
    )
    -- Another transaction may have released the run since this statement began, and a node may have
    -- leased it.
    AND ${isBlocked}
    AND NOT ${unless}
  RETURNING id`
}
