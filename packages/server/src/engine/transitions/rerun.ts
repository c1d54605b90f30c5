import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { maxTaskRuns } from "../../core/index.ts"
import { columnsOf } from "../../store/index.ts"
import type { InsertedRun } from "./enqueue.ts"
import type { QueuedRun } from "../Run.ts"
import { makeRunId } from "../RunId.ts"

/** A finished run to be repeated. */
export interface EndedRun {
  /** The id of the execution or of the chain run. */
  readonly id: string
  readonly task_id: string
  readonly scheduled_for: Date
}

/**
 * Queues the runs again, oldest first, if their tasks still exist. They are due now, and keep their
 * inputs and the times for which they were scheduled.
 */
export const rerun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  ended: ReadonlyArray<EndedRun>
) {
  const now = yield* Clock.currentTimeMillis
  const inOrder = ended.toSorted((a, b) => a.scheduled_for.getTime() - b.scheduled_for.getTime())
  const ids = inOrder.map(() => makeRunId(now, now)).toSorted()
  const column = columnsOf(
    inOrder.map((run, index) => ({ ...run, ended_id: run.id, id: ids[index] }))
  )
  yield* sql`
    SELECT
    FROM tasks
    WHERE workspace_id = ${workspaceId}
      AND id = ANY (${column("uuid", ({ task_id }) => task_id)})
    ORDER BY id
    FOR UPDATE`
  return yield* sql<InsertedRun>`
    WITH ended AS (
      SELECT *
      FROM unnest(
        ${column("uuid", ({ id }) => id)},
        ${column("uuid", ({ ended_id }) => ended_id)},
        ${column("uuid", ({ task_id }) => task_id)},
        ${column("timestamptz", ({ scheduled_for }) => scheduled_for)}
      ) AS ended (id, ended_id, task_id, scheduled_for)
    ), kept AS (
      INSERT INTO run_inputs (id, workspace_id, input)
      SELECT ended.id, run_inputs.workspace_id, run_inputs.input
      FROM ended
      JOIN tasks ON tasks.id = ended.task_id AND tasks.workspace_id = ${workspaceId}
      JOIN run_inputs ON run_inputs.id = ended_id AND run_inputs.workspace_id = ${workspaceId}
    )
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      scheduled_for, due_at, run_on, worker_wait_seconds, queue_id, state
    )
    SELECT
      ended.id, tasks.workspace_id, tasks.id, tasks.kind, 'rerun', tasks.lane,
      CASE tasks.kind WHEN 'chain' THEN ended.id END,
      CASE tasks.kind WHEN 'chain' THEN 0 END,
      ended.scheduled_for, now(), tasks.run_on, tasks.worker_wait_seconds,
      tasks.queue_id, CASE WHEN tasks.queue_id IS NULL THEN 'ready' ELSE 'parked' END
    FROM ended
    JOIN tasks ON tasks.id = ended.task_id
    WHERE tasks.workspace_id = ${workspaceId}
    ORDER BY ended.id
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      'queued' AS status, scheduled_for, queue_id`
})

/** Returns whether one of the tasks exceeds its limit of unfinished runs. */
export const someAreOverfull = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<QueuedRun>
) {
  const taskIds = [...new Set(runs.map((run) => run.task_id))]
  const overfull = yield* sql`
    SELECT
    FROM unnest(${taskIds}::uuid[]) AS task (id)
    WHERE EXISTS (
      SELECT
      FROM runs
      WHERE runs.task_id = task.id
      OFFSET ${maxTaskRuns}
      LIMIT 1
    )
    LIMIT 1`
  return overfull.length > 0
})
