import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import type { ChainStep } from "@scheduling/domain/chains/Chain"
import { maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import { maxInputBytes } from "@scheduling/domain/executions/RunRequest"
import { usedBy } from "@scheduling/domain/calls/TemplateCall"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { callOptionsOf } from "../callOptions.ts"
import { maxCallBytes } from "../Run.ts"

interface ChainRef {
  readonly workspace_id: string
  readonly chain_id: string
}

/** A step with the advanced options that are set. */
export type StoredStep = Omit<ChainStep, keyof CallOptions> & CallOptions

/** Stores the steps of a chain as a new version and returns its id. */
export const insertVersion = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { chain_id, steps, workspace_id }: ChainRef & { readonly steps: ReadonlyArray<StoredStep> }
) {
  const names = steps.map((step) => step.name)
  const rows = steps.map((step, step_index) => {
    const used = usedBy(step)
    const indexes = Array.from(used.steps, (name) => names.indexOf(name))
    return {
      ...step,
      call_options: callOptionsOf(step),
      step_index,
      uses: used.input ? [...indexes, inputIndex] : indexes,
      weight: weightOf(
        step,
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
        timeout_seconds, retry_count, call_options, run_on, worker_wait_seconds, uses, weight
      )
      SELECT
        version.id, step_index, name, run_if, method, url, headers, body,
        timeout_seconds, retry_count, call_options, run_on, worker_wait_seconds, uses, weight
      FROM version
      CROSS JOIN json_to_recordset(${JSON.stringify(rows)}::json) AS step (
        step_index smallint, name text, run_if text, method text, url text, headers jsonb, body text,
        timeout_seconds integer, retry_count integer, call_options jsonb, run_on jsonb,
        worker_wait_seconds integer, uses smallint[], weight integer
      )
    )
    SELECT id FROM version`
  return version?.id ?? (yield* Effect.die(new Error("INSERT returned no row")))
})

/** Represents the input of the run in a list of step indexes. */
export const inputIndex = -1

/**
 * The maximum memory that the call of a step takes. The responses and the input that it uses are
 * read first and then filled in.
 */
const weightOf = (step: StoredStep, used: number): number => {
  const own = Buffer.byteLength(step.url + JSON.stringify(step.headers) + (step.body ?? ""))
  return used === 0 ? own : own + used + maxCallBytes
}

/**
 * How long a replaced version is kept while its chain has runs. A start guard may have read the
 * version before it was replaced, without having written yet that a run uses it. Statements time
 * out after half a minute, so this is long enough.
 */
const keepReplacedMinutes = 5

/** Deletes versions that no chain and no run needs, of one chain or of all. */
export const removeReplaced = (sql: SqlClient.SqlClient, chain?: ChainRef) => {
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
export interface Outline {
  readonly version_id: string
  readonly names: ReadonlyArray<string>
  readonly conditions: ReadonlyArray<ChainStep["run_if"]>
  /** For each step, whether it runs on a worker. */
  readonly on_workers: ReadonlyArray<boolean>
}

export const findOutlines = (sql: SqlClient.SqlClient, versions: ReadonlyArray<string>) =>
  sql<Outline>`
    SELECT
      version_id,
      array_agg(name ORDER BY step_index) AS names,
      array_agg(run_if ORDER BY step_index) AS conditions,
      array_agg(run_on IS NOT NULL ORDER BY step_index) AS on_workers
    FROM chain_steps
    WHERE version_id = ANY (${versions}::uuid[])
    GROUP BY version_id`
