import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { QueuedRun } from "./Run.ts"
import { makeRunId } from "./RunId.ts"

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
    VALUES (
      ${id}, ${run.workspace_id}, ${run.task_id}, ${run.kind}, ${run.trigger},
      coalesce((SELECT lane FROM tasks WHERE id = ${run.task_id}), 0),
      ${run.kind === "chain" ? id : null}, ${run.kind === "chain" ? 0 : null},
      greatest(now(), ${run.run_at}), greatest(now(), ${run.run_at})
    )
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      'queued' AS status, scheduled_for`
  return inserted ?? (yield* Effect.die(new Error("INSERT returned no row")))
})
