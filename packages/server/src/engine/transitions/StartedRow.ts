import { maxInlineCallBytes, type RunCall, type StartedRun, type StepPosition } from "../Run.ts"

/** A run that may start, with the call of its task, as the SQL statements return it. */
export interface StartedRow
  extends Omit<StartedRun, "call" | "position" | "withheld">, Nullable<RunCall> {
  readonly withheld: number | null
}

type Nullable<A> = { readonly [K in keyof A]: A[K] | null }

export const runColumns = [
  "id",
  "workspace_id",
  "task_id",
  "kind",
  "attempt",
  "lost",
  "due_ms",
  "scheduled_ms",
  "row_at"
] satisfies ReadonlyArray<keyof StartedRow>

export const callColumns = [
  "method",
  "url",
  "headers",
  "body",
  "timeout_seconds",
  "retry_count",
  "call_options",
  "withheld"
] satisfies ReadonlyArray<keyof StartedRow>

/**
 * The columns in `callColumns` except `withheld`, read from `tasks`. Large headers and bodies are
 * left out, because a batch may contain a thousand of them.
 */
export const callColumnsOfTask = [
  "tasks.method",
  "tasks.url",
  `CASE WHEN tasks.bytes <= ${maxInlineCallBytes} THEN tasks.headers END AS headers`,
  `CASE WHEN tasks.bytes <= ${maxInlineCallBytes} THEN tasks.body END AS body`,
  "tasks.timeout_seconds",
  "tasks.retry_count",
  "tasks.call_options"
].join(", ")

export const withheldColumnOfTask = `CASE WHEN tasks.bytes > ${maxInlineCallBytes} THEN tasks.bytes END`

export const toStartedRun = (
  row: StartedRow,
  position: StepPosition | null = null
): StartedRun => ({
  id: row.id,
  workspace_id: row.workspace_id,
  task_id: row.task_id,
  kind: row.kind,
  attempt: row.attempt,
  lost: row.lost,
  due_ms: row.due_ms,
  scheduled_ms: row.scheduled_ms,
  row_at: row.row_at,
  position,
  call:
    row.method === null || row.url === null || row.withheld !== null
      ? null
      : {
          method: row.method,
          url: row.url,
          headers: row.headers ?? {},
          body: row.body,
          timeout_seconds: row.timeout_seconds ?? 30,
          retry_count: row.retry_count ?? 0,
          call_options: row.call_options
        },
  withheld: row.withheld ?? 0
})
