import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { makeRunId } from "../RunId.ts"
import { flowKeyOfRun, flowQueueSql } from "../queues/flows.ts"
import type { InsertedRun } from "./enqueue.ts"

/**
 * Queues a run for each of these past times, oldest first. Unless the task allows its runs to
 * overlap, each waits for the previous one: the oldest is released as soon as no run of the task is
 * in progress. Call it while the row of the task is locked.
 */
export const backfill = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  taskId: string,
  times: ReadonlyArray<Date>
) {
  const now = yield* Clock.currentTimeMillis
  const ids = times.map(() => makeRunId(now, now)).toSorted()
  const column = columnsOf(times.map((at, index) => ({ at, id: ids[index] })))
  return yield* sql<InsertedRun>`
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      scheduled_for, due_at, run_on, worker_wait_seconds, queue_id, priority, state
    )
    SELECT
      slots.id, tasks.workspace_id, tasks.id, tasks.kind, 'backfill', tasks.lane,
      CASE WHEN tasks.kind = 'chain' THEN slots.id END, CASE WHEN tasks.kind = 'chain' THEN 0 END,
      slots.at, now(), tasks.run_on, tasks.worker_wait_seconds,
      coalesce(tasks.queue_id, ${sql.literal(flowQueueSql({ id: "slots.id", input: "NULL" }))}), tasks.priority,
      CASE
        WHEN tasks.overlap <> 'allow' THEN 'blocked'
        WHEN tasks.queue_id IS NULL AND tasks.flow IS NULL THEN 'ready'
        ELSE 'parked'
      END
    FROM unnest(
      ${column("uuid", ({ id }) => id)},
      ${column("timestamptz", ({ at }) => at)}
    ) AS slots (id, at)
    JOIN tasks ON tasks.id = ${taskId}
    WHERE tasks.workspace_id = ${workspaceId}
    ORDER BY slots.id
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      ${sql.literal(flowKeyOfRun)} AS flow_key, 'queued' AS status, scheduled_for, queue_id`
})
