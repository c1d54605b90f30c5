import type { SqlClient } from "effect/sql"

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
      lease_owner = CASE WHEN state = 'running' THEN lease_owner END
    WHERE workspace_id = ${task.workspace_id}
      AND task_id = ${task.task_id}
      AND version_id IS NULL`

/**
 * Puts the runs of a task that have not started into another queue, or into none. One that waits for
 * the run before it goes on doing so.
 */
export const moveToQueue = (
  sql: SqlClient.SqlClient,
  task: { readonly workspace_id: string; readonly task_id: string },
  queueId: string | null
) =>
  sql`
    UPDATE runs
    SET
      queue_id = ${queueId}::uuid,
      waiting = ${queueId !== null} OR (waiting AND NOT parked),
      parked = ${queueId !== null} AND (parked OR NOT waiting),
      due_at = greatest(due_at, now()),
      lease_owner = NULL
    WHERE workspace_id = ${task.workspace_id}
      AND task_id = ${task.task_id}
      AND state = 'queued'
      AND NOT cancel_requested`
