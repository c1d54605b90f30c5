import { maxTaskRuns, maxWorkspaceRuns } from "@scheduling/domain/executions/Execution"
import { Clock, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { QueuedRun } from "./Run.ts"
import { makeRunId } from "./RunId.ts"

/** Whether a task has as many unfinished runs as it may have. Mostly it has one or none to look at. */
export const isFull = (sql: SqlClient.SqlClient, taskId: Statement.Fragment) => sql`
  EXISTS (
    SELECT
    FROM runs
    WHERE runs.task_id = ${taskId}
    OFFSET ${maxTaskRuns - 1}
    LIMIT 1
  )`

/** Null where the task has as many unfinished runs as it may have. */
export const insertRun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Pick<QueuedRun, "workspace_id" | "task_id" | "kind" | "trigger"> & {
    /** Null, or a time that has passed: now. */
    readonly run_at: Date | null
  }
) {
  const now = yield* Clock.currentTimeMillis
  const id = makeRunId(Math.max(now, run.run_at?.getTime() ?? now), now)
  const [inserted] = yield* sql<QueuedRun>`
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      scheduled_for, due_at
    )
    SELECT
      ${id}::uuid, ${run.workspace_id}::uuid, ${run.task_id}::uuid, ${run.kind}, ${run.trigger},
      coalesce((SELECT lane FROM tasks WHERE id = ${run.task_id}::uuid), 0),
      ${run.kind === "chain" ? id : null}::uuid, ${run.kind === "chain" ? 0 : null}::smallint,
      greatest(now(), ${run.run_at}::timestamptz), greatest(now(), ${run.run_at}::timestamptz)
    WHERE NOT ${isFull(sql, sql`${run.task_id}::uuid`)}
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      'queued' AS status, scheduled_for`
  return inserted ?? null
})

/** Reads as many entries of an index as the limit, at most. */
export const countOfWorkspace = (sql: SqlClient.SqlClient, workspaceId: string) =>
  sql<{ readonly unfinished: number }>`
    SELECT count(*)::int AS unfinished
    FROM (
      SELECT
      FROM runs
      WHERE workspace_id = ${workspaceId}
      LIMIT ${maxWorkspaceRuns}
    ) AS unfinished`.pipe(Effect.map(([row]) => row?.unfinished ?? 0))
