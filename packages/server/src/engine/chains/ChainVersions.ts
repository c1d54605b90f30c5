import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import {
  type ApproveStep,
  type CallStep,
  type ChainStep,
  isCallStep,
  type WaitStep
} from "@scheduling/domain/chains/ChainStep"
import { maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import { maxInputBytes } from "@scheduling/domain/executions/RunRequest"
import { valuesUsedByCall, valuesUsedByText } from "@scheduling/domain/calls/TemplateCall"
import { runOn } from "@scheduling/domain/workers/RunOn"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { callOptionsOf } from "../callOptions.ts"
import { maxCallBytes } from "../Run.ts"

interface ChainRef {
  readonly workspace_id: string
  readonly chain_id: string
}

/** A stored step that makes a call, with those advanced options that are set. */
export type StoredCallStep = Omit<CallStep, keyof CallOptions> & CallOptions

type StoredApproveStep = Omit<ApproveStep, "channel_keys">

export type StoredStep = StoredCallStep | WaitStep | StoredApproveStep

/** Returns the worker options of a step, or the defaults if the step makes no call. */
export const workerOptionsOf = (step: StoredStep | undefined) =>
  step !== undefined && isCallStep(step) ? step : runOn.defaults

/** What a step that makes no call waits for. */
export type Pause = Omit<WaitStep, "name" | "run_if"> | Omit<StoredApproveStep, "name" | "run_if">

/** Returns the text of a step that makes no call. The text may contain placeholders. */
export const pauseText = (step: Pause): string | null =>
  step.kind === "wait" ? step.until : step.message

/** Stores the steps of a chain as a new version and returns its id. */
export const insertVersion = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { chain_id, steps, workspace_id }: ChainRef & { readonly steps: ReadonlyArray<StoredStep> }
) {
  const names = steps.map((step) => step.name)
  const rows = steps.map((step, step_index) => {
    const columns = isCallStep(step)
      ? { ...step, call_options: callOptionsOf(step), pause: null }
      : pauseColumns(step)
    const used = isCallStep(step) ? valuesUsedByCall(step) : valuesUsedByText(pauseText(step))
    const indexes = Array.from(used.steps, (name) => names.indexOf(name))
    return {
      ...columns,
      step_index,
      uses: used.input ? [...indexes, inputIndex] : indexes,
      weight: weightOf(
        columns,
        indexes.length * maxResponseBodyBytes + (used.input ? maxInputBytes : 0)
      )
    }
  })
  const [version] = yield* sql<{ readonly id: string }>`
    WITH version AS (
      INSERT INTO chain_versions (workspace_id, chain_id)
      VALUES (${workspace_id}, ${chain_id})
      RETURNING id
    ), steps AS (
      INSERT INTO chain_steps (
        version_id, step_index, name, run_if, method, url, headers, body,
        timeout_seconds, retry_count, call_options, run_on, worker_wait_seconds, pause, uses, weight
      )
      SELECT
        version.id, step_index, name, run_if, method, url, headers, body,
        timeout_seconds, retry_count, call_options, run_on, worker_wait_seconds, pause, uses, weight
      FROM version
      CROSS JOIN json_to_recordset(${JSON.stringify(rows)}::json) AS step (
        step_index smallint, name text, run_if text, method text, url text, headers jsonb, body text,
        timeout_seconds integer, retry_count integer, call_options jsonb, run_on jsonb,
        worker_wait_seconds integer, pause jsonb, uses smallint[], weight integer
      )
    )
    SELECT id FROM version`
  return version?.id ?? (yield* Effect.die(new Error("INSERT returned no row")))
})

/** The columns of a step that makes no call. */
const pauseColumns = ({ name, run_if, ...pause }: WaitStep | StoredApproveStep) => ({
  ...runOn.defaults,
  name,
  run_if,
  method: null,
  url: null,
  headers: {},
  body: null,
  timeout_seconds: 0,
  retry_count: 0,
  call_options: null,
  pause
})

/** Represents the input of the run in a list of step indexes. */
export const inputIndex = -1

/**
 * The maximum memory that a step's call takes. The responses and the input that the step uses are
 * read first and then filled in.
 */
const weightOf = (
  {
    body,
    headers,
    url
  }: { readonly body: string | null; readonly headers: object; readonly url: string | null },
  used: number
): number => {
  const own = Buffer.byteLength((url ?? "") + JSON.stringify(headers) + (body ?? ""))
  return used === 0 ? own : own + used + maxCallBytes
}

/**
 * How long a replaced version is kept while its chain has runs. A start guard may have read the
 * version before it was replaced, and may write later that a run uses it. Statements time out after
 * half a minute, so this time is long enough.
 */
const keepReplacedMinutes = 5

/** Deletes the replaced versions of one chain, or of all chains, that no run needs any more. */
export const removeReplacedVersions = (sql: SqlClient.SqlClient, chain?: ChainRef) => {
  const ofChain: Statement.Fragment =
    chain === undefined
      ? sql.literal("")
      : sql`AND workspace_id = ${chain.workspace_id} AND chain_id = ${chain.chain_id}`
  return sql`
    DELETE FROM chain_versions
    WHERE replaced_at IS NOT NULL
      ${ofChain}
      AND NOT EXISTS (
        SELECT
        FROM runs
        WHERE runs.task_id = chain_versions.chain_id
          AND (
            runs.version_id = chain_versions.id
            OR chain_versions.replaced_at > now() - ${keepReplacedMinutes} * interval '1 minute'
          )
      )`
}

/** The part of a version that decides which steps follow each step. */
export interface ChainOutline {
  readonly version_id: string
  readonly names: ReadonlyArray<string>
  readonly conditions: ReadonlyArray<ChainStep["run_if"]>
  /** For each step, whether it runs on a worker. */
  readonly on_workers: ReadonlyArray<boolean>
  /** For each step, whether it waits instead of making a call. */
  readonly pauses: ReadonlyArray<boolean>
}

export const findOutlines = (sql: SqlClient.SqlClient, versions: ReadonlyArray<string>) =>
  sql<ChainOutline>`
    SELECT
      version_id,
      array_agg(name ORDER BY step_index) AS names,
      array_agg(run_if ORDER BY step_index) AS conditions,
      array_agg(run_on IS NOT NULL ORDER BY step_index) AS on_workers,
      array_agg(pause IS NOT NULL ORDER BY step_index) AS pauses
    FROM chain_steps
    WHERE version_id = ANY (${versions}::uuid[])
    GROUP BY version_id`
