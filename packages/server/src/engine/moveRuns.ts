import { Effect } from "effect"
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

/** SQL for the queue in which the next attempt or step of a row of `runs` waits for its turn. */
export const nextQueue = "CASE WHEN runs.moves THEN runs.next_queue_id ELSE runs.queue_id END"

/**
 * Puts the runs of a task that have not started into another queue, or into none. One that waits for
 * the run before it goes on doing so. One that has started keeps its place and goes there with its
 * next attempt or step.
 */
export const moveToQueue = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: { readonly workspace_id: string; readonly task_id: string },
  queueId: string | null
) {
  const move = sql`
    UPDATE runs
    SET
      queue_id = CASE WHEN state = 'queued' THEN ${queueId}::uuid ELSE queue_id END,
      moves = state = 'running',
      next_queue_id = CASE WHEN state = 'running' THEN ${queueId}::uuid END,
      waiting = CASE
        WHEN state = 'queued' THEN ${queueId !== null} OR (waiting AND NOT parked)
        ELSE waiting
      END,
      parked = CASE
        WHEN state = 'queued' THEN ${queueId !== null} AND (parked OR NOT waiting)
        ELSE parked
      END,
      due_at = CASE WHEN state = 'queued' THEN greatest(due_at, now()) ELSE due_at END,
      lease_owner = CASE WHEN state = 'running' THEN lease_owner END
    FROM (
      SELECT id
      FROM runs
      WHERE workspace_id = ${task.workspace_id}
        AND task_id = ${task.task_id}
        AND NOT cancel_requested
        AND CASE WHEN moves THEN next_queue_id ELSE queue_id END IS DISTINCT FROM ${queueId}::uuid
      ORDER BY id
      FOR NO KEY UPDATE
    ) AS moved
    WHERE runs.workspace_id = ${task.workspace_id}
      AND runs.id = moved.id`
  yield* move
  // A step that followed while the one before it was locked was not seen.
  yield* move
})
