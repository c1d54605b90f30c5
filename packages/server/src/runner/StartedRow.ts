import type { RunCall, StartedRun } from "./Run.ts"

/** A run that may start, with the call of its task, as the statements give it. */
export interface StartedRow extends Omit<StartedRun, "call">, Nullable<RunCall> {}

type Nullable<A> = { readonly [K in keyof A]: A[K] | null }

export const runColumns = [
  "id",
  "workspace_id",
  "kind",
  "attempt",
  "lost",
  "due_ms",
  "chain_run_id",
  "step_index",
  "steps"
] satisfies ReadonlyArray<keyof StartedRow>

/** Of the run's task. */
export const callColumns = [
  "method",
  "url",
  "headers",
  "body",
  "timeout_seconds",
  "retry_count"
] satisfies ReadonlyArray<keyof StartedRow>

export const toStartedRun = (row: StartedRow): StartedRun => ({
  id: row.id,
  workspace_id: row.workspace_id,
  kind: row.kind,
  attempt: row.attempt,
  lost: row.lost,
  due_ms: row.due_ms,
  chain_run_id: row.chain_run_id,
  step_index: row.step_index,
  steps: row.steps,
  call:
    row.method === null || row.url === null
      ? null
      : {
          method: row.method,
          url: row.url,
          headers: row.headers ?? {},
          body: row.body,
          timeout_seconds: row.timeout_seconds ?? 30,
          retry_count: row.retry_count ?? 0
        }
})
