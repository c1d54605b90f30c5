import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { hasBegun } from "../RunState.ts"

/**
 * Runs of a chain that have started keep the steps that they have. A node or an agent that has
 * leased a run ahead finds at the start that the run is no longer its own.
 */
export const moveRuns = (
  sql: SqlClient.SqlClient,
  task: { readonly workspace_id: string; readonly task_id: string },
  place: { readonly run_on: object | null; readonly worker_wait_seconds: number }
) =>
  sql`
    UPDATE runs
    SET
      run_on = ${place.run_on && JSON.stringify(place.run_on)}::jsonb,
      worker_wait_seconds = ${place.worker_wait_seconds},
      state = CASE state WHEN 'leased' THEN 'ready' ELSE state END,
      lease_owner = CASE state WHEN 'running' THEN lease_owner END
    WHERE workspace_id = ${task.workspace_id}
      AND task_id = ${task.task_id}
      AND version_id IS NULL`

/**
 * Gives the runs of a task another queue, or none. A run that has not begun waits there for its turn
 * from now on, or goes on waiting for the run before it. A run that has begun keeps its slot, and its
 * next attempt or step waits there.
 */
export const moveToQueue = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: { readonly workspace_id: string; readonly task_id: string },
  queueId: string | null
) {
  const begun = sql.literal(hasBegun())
  const move = sql`
    UPDATE runs
    SET
      queue_id = ${queueId}::uuid,
      slot_queue_id = CASE WHEN ${begun} THEN slot_queue_id END,
      state = CASE
        WHEN ${begun} OR state = 'blocked' THEN state
        WHEN ${queueId !== null} THEN 'parked'
        ELSE 'ready'
      END,
      due_at = CASE WHEN ${begun} THEN due_at ELSE greatest(due_at, now()) END,
      lease_owner = CASE state WHEN 'running' THEN lease_owner END
    FROM (
      SELECT id
      FROM runs
      WHERE workspace_id = ${task.workspace_id}
        AND task_id = ${task.task_id}
        AND NOT cancel_requested
        AND queue_id IS DISTINCT FROM ${queueId}::uuid
      ORDER BY id
      FOR NO KEY UPDATE
    ) AS moved
    WHERE runs.workspace_id = ${task.workspace_id}
      AND runs.id = moved.id`
  yield* move
  // A step that followed while the one before it was locked was not seen.
  yield* move
})
