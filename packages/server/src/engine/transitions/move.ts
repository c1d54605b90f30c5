import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { hasBegun } from "../RunState.ts"
import { type TaskFlowColumns, flowQueueSql } from "../queues/flows.ts"

/**
 * Moves the runs of a task to a worker or to nodes. Chain runs that have started keep the workers
 * of their steps. If a node or an agent has leased such a run ahead of time, it finds that the
 * lease is gone when it starts the run.
 */
export const moveToWorker = (
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
 * attempt or step waits in the new queue.
 */
export const moveToQueue = (sql: SqlClient.SqlClient, task: MovedTask, queueId: string | null) =>
  moveTo(
    sql,
    task,
    sql`
      SELECT id, ${queueId}::uuid AS to_queue_id
      FROM runs
      WHERE workspace_id = ${task.workspace_id}
        AND task_id = ${task.task_id}
        AND NOT cancel_requested
        AND queue_id IS DISTINCT FROM ${queueId}::uuid
      ORDER BY id
      FOR NO KEY UPDATE`
  )

/** The flow of a task, and the fields of the task that its key may contain. */
export interface NewFlow extends TaskFlowColumns {
  readonly name: string | null
  readonly key: string | null
  readonly updated_at: Date
}

/**
 * Does the same as `moveToQueue` for the flow that the task is about to get. Returns the queues of
 * the moved runs.
 */
export const moveToFlow = (
  sql: SqlClient.SqlClient,
  task: MovedTask,
  { flow, flow_parts, key, name, updated_at }: NewFlow
) =>
  moveTo(
    sql,
    task,
    sql`
      SELECT runs.id, ${sql.literal(flowQueueSql(runInFlow, "given"))} AS to_queue_id
      FROM runs
      LEFT JOIN run_inputs
        ON run_inputs.workspace_id = runs.workspace_id
        AND run_inputs.id = coalesce(runs.chain_run_id, runs.id)
      CROSS JOIN (
        SELECT
          ${task.workspace_id}::uuid AS workspace_id, ${JSON.stringify(flow)}::jsonb AS flow,
          ${flow_parts && JSON.stringify(flow_parts)}::jsonb AS flow_parts,
          ${name}::text AS name, ${key}::text AS key, ${updated_at}::timestamptz AS updated_at
      ) AS given
      WHERE runs.workspace_id = ${task.workspace_id}
        AND runs.task_id = ${task.task_id}
        AND NOT runs.cancel_requested
      ORDER BY runs.id
      FOR NO KEY UPDATE OF runs`
  )

const runInFlow = { id: "coalesce(runs.chain_run_id, runs.id)", input: "run_inputs.input" }

interface MovedTask {
  readonly workspace_id: string
  readonly task_id: string
}

const moveTo = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: MovedTask,
  found: Statement.Fragment
) {
  const begun = sql.literal(hasBegun())
  const move = sql<{ readonly queue_id: string | null }>`
    UPDATE runs
    SET
      queue_id = moved.to_queue_id,
      slot_queue_id = CASE WHEN ${begun} THEN slot_queue_id END,
      state = CASE
        WHEN ${begun} OR state = 'blocked' THEN state
        WHEN moved.to_queue_id IS NULL THEN 'ready'
        ELSE 'parked'
      END,
      due_at = CASE WHEN ${begun} THEN due_at ELSE greatest(due_at, now()) END,
      lease_owner = CASE state WHEN 'running' THEN lease_owner END
    FROM (${found}) AS moved
    WHERE runs.workspace_id = ${task.workspace_id}
      AND runs.id = moved.id
      AND runs.queue_id IS DISTINCT FROM moved.to_queue_id
    RETURNING runs.queue_id`
  const first = yield* move
  // The move is repeated, because the first statement did not see steps that were inserted while it
  // waited for the lock of the previous step.
  const second = yield* move
  return [...new Set([...first, ...second].flatMap(({ queue_id }) => queue_id ?? []))]
})
