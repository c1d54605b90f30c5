import type { CallStepInput } from "@scheduling/domain/chains/ChainStep"
import type { ExecutionKind, ExecutionStatus } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { insertVersion } from "../../../src/engine/chains/ChainVersions.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { callStep } from "../../engine/runner/support/tasks.ts"

/** A row of `runs` (queued or running) or of `executions` (finished). */
export interface RunOrExecution {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly trigger: string
  readonly chain_run_id: string | null
  readonly step_index: number | null
  readonly step: string | null
  readonly steps: ReadonlyArray<Pick<CallStepInput, "name" | "url">> | null
  readonly status: ExecutionStatus
  readonly scheduled_for: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  /** The number of attempts that have started. */
  readonly attempts_count: number
  readonly status_code: number | null
  /** The stored error. */
  readonly error: string | null
}

export const isUnfinished = (run: Pick<RunOrExecution, "status">) =>
  run.status === "queued" || run.status === "running"

/** Creates a run that was due at this time, with the given fields. */
export const runAt = (
  at: number,
  fields: Pick<RunOrExecution, "workspace_id"> & Partial<RunOrExecution>
): RunOrExecution => {
  const status = fields.status ?? "succeeded"
  const started = status !== "queued" && status !== "skipped"
  const finished_at = isUnfinished({ status }) ? null : new Date(at)
  return {
    id: makeRunId(at, at),
    task_id: randomUUID(),
    kind: "cron",
    trigger: "schedule",
    chain_run_id: null,
    step_index: null,
    step: null,
    steps: null,
    status,
    scheduled_for: new Date(at),
    started_at: started ? new Date(at) : null,
    finished_at,
    attempts_count: started ? 1 : 0,
    status_code: null,
    error: status === "failed" ? "connection: connection refused" : null,
    ...fields
  }
}

/** Inserts the runs into the tables that the engine would store them in. */
export const insertRuns = Effect.fnUntraced(function* (runs: ReadonlyArray<RunOrExecution>) {
  const sql = yield* SqlClient.SqlClient
  const withVersions = yield* Effect.forEach(runs, ({ steps, ...run }) =>
    steps === null
      ? Effect.succeed(run)
      : Effect.map(
          insertVersion(sql, {
            workspace_id: run.workspace_id,
            chain_id: run.task_id,
            steps: steps.map(({ name, url }) => callStep(name, { url }))
          }),
          (version_id) => ({ ...run, version_id })
        )
  )
  const rows = sql`
    json_to_recordset(${JSON.stringify(withVersions)}::json) AS run (
      id uuid, workspace_id uuid, task_id uuid, kind text, trigger text,
      chain_run_id uuid, step_index smallint, step text, version_id uuid, status text,
      scheduled_for timestamptz, started_at timestamptz, finished_at timestamptz,
      attempts_count integer, status_code integer, error text
    )`
  yield* sql`
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, version_id,
      scheduled_for, due_at, state, lease_owner, started_at, attempt_started_at, status_code, error, attempt
    )
    SELECT
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, version_id,
      scheduled_for, scheduled_for, CASE status WHEN 'queued' THEN 'ready' ELSE status END,
      CASE status WHEN 'running' THEN 1 END, started_at, started_at, status_code, error,
      CASE status WHEN 'running' THEN attempts_count ELSE attempts_count + 1 END
    FROM ${rows}
    WHERE status IN ('queued', 'running')`
  yield* sql`
    INSERT INTO executions (
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, status,
      scheduled_for, started_at, finished_at, lateness_ms, duration_ms,
      attempts_count, status_code, error
    )
    SELECT
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, status,
      scheduled_for, started_at, finished_at,
      extract(epoch FROM started_at - scheduled_for) * 1000,
      extract(epoch FROM finished_at - started_at) * 1000,
      attempts_count, status_code, error
    FROM ${rows}
    WHERE status NOT IN ('queued', 'running')`
})

/** Finishes the run. One statement moves it from the queue to the history, as in the engine. */
export const finishRun = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH ended AS (
      DELETE FROM runs
      WHERE id = ${id}
      RETURNING *
    )
    INSERT INTO executions (
      id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count
    )
    SELECT id, workspace_id, task_id, kind, trigger, 'succeeded', scheduled_for, now(), attempt
    FROM ended`
})
