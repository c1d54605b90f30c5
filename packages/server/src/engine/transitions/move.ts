import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { hasBegun } from "../RunState.ts"

/**
 * Moves the runs of a task to a worker or to nodes. Chain runs that have started keep their steps.
 * A node or an agent that has leased a run ahead finds at its start that the lease is gone.
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
 * Moves the runs of a task to another queue, or to none. A run that has not begun waits there for
 * its turn, or stays blocked by the previous run. A run that has begun keeps its slot, and its next
 * attempt or step waits there.
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
  // Repeated, because the first statement did not see steps that were inserted while it waited for
  // the lock of the previous step.
  yield* move
})
