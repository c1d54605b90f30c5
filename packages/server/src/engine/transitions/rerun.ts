import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { maxUnfinishedRunsPerTask } from "../../core/index.ts"
import { columnsOf } from "../../store/index.ts"
import type { InsertedRun } from "./enqueue.ts"
import type { QueuedRun } from "../Run.ts"
import { makeRunId } from "../RunId.ts"
import { flowKeyOfRun, flowKeySql, flowQueuesCte } from "../queues/flows.ts"

/** A finished run to be repeated. */
export interface RerunRequest {
  /** The id of the execution or of the chain run. */
  readonly id: string
  readonly task_id: string
  readonly scheduled_for: Date
}

/**
 * Queues the runs again, oldest first, if their tasks still exist. The runs are due now, and keep
 * their inputs and the times for which they were scheduled.
 */
export const rerun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  ended: ReadonlyArray<RerunRequest>
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
    ), in_flows AS (
      SELECT
        ended.id AS run_id, tasks.workspace_id, tasks.flow, tasks.updated_at,
        ${sql.literal(flowKeySql({ id: "ended.id", input: "run_inputs.input" }))} AS given_key
      FROM ended
      JOIN tasks ON tasks.id = ended.task_id AND tasks.workspace_id = ${workspaceId}
      LEFT JOIN run_inputs ON run_inputs.id = ended_id AND run_inputs.workspace_id = ${workspaceId}
      WHERE tasks.flow IS NOT NULL
    ), ${sql.literal(flowQueuesCte)}
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      scheduled_for, due_at, run_on, worker_wait_seconds, queue_id, priority, state
    )
    SELECT
      ended.id, tasks.workspace_id, tasks.id, tasks.kind, 'rerun', tasks.lane,
      CASE tasks.kind WHEN 'chain' THEN ended.id END,
      CASE tasks.kind WHEN 'chain' THEN 0 END,
      ended.scheduled_for, now(), tasks.run_on, tasks.worker_wait_seconds,
      coalesce(tasks.queue_id, flow_queue_id), tasks.priority,
      CASE WHEN tasks.queue_id IS NULL AND tasks.flow IS NULL THEN 'ready' ELSE 'parked' END
    FROM ended
    JOIN tasks ON tasks.id = ended.task_id
    LEFT JOIN flows ON flows.run_id = ended.id
    WHERE tasks.workspace_id = ${workspaceId}
    ORDER BY ended.id
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      ${sql.literal(flowKeyOfRun)} AS flow_key, 'queued' AS status, scheduled_for, queue_id`
})

/** Returns whether one of the tasks exceeds its limit of unfinished runs. */
export const isSomeTaskOverLimit = Effect.fnUntraced(function* (
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
      OFFSET ${maxUnfinishedRunsPerTask}
      LIMIT 1
    )
    LIMIT 1`
  return overfull.length > 0
})
