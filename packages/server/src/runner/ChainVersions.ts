import type { ChainStep } from "@scheduling/domain/chains/Chain"
import { stepsUsedBy } from "@scheduling/domain/chains/StepCall"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { heaviestCall } from "./Run.ts"

interface ChainRef {
  readonly workspace_id: string
  readonly chain_id: string
}

/** Writes the steps of a chain down as a version of their own, and answers its id. */
export const insertVersion = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { chain_id, steps, workspace_id }: ChainRef & { readonly steps: ReadonlyArray<ChainStep> }
) {
  const names = steps.map((step) => step.name)
  const rows = steps.map((step, step_index) => {
    const uses = Array.from(stepsUsedBy(step), (name) => names.indexOf(name))
    return { ...step, step_index, uses, weight: weightOf(step, uses.length) }
  })
  const [version] = yield* sql<{ readonly id: string }>`
    WITH version AS (
      INSERT INTO chain_versions (workspace_id, chain_id)
      VALUES (${workspace_id}, ${chain_id})
      RETURNING id
    ), steps AS (
      INSERT INTO chain_steps (
        version_id, step_index, name, run_if, method, url, headers, body,
        timeout_seconds, retry_count, uses, weight
      )
      SELECT
        version.id, step_index, name, run_if, method, url, headers, body,
        timeout_seconds, retry_count, uses, weight
      FROM version
      CROSS JOIN json_to_recordset(${JSON.stringify(rows)}::json) AS step (
        step_index smallint, name text, run_if text, method text, url text, headers jsonb, body text,
        timeout_seconds integer, retry_count integer, uses smallint[], weight integer
      )
    )
    SELECT id FROM version`
  return version?.id ?? (yield* Effect.die(new Error("INSERT returned no row")))
})

/** What the call of a step takes at most: its answers are read, and then filled in. */
const weightOf = (step: ChainStep, uses: number): number => {
  const own = Buffer.byteLength(step.url + JSON.stringify(step.headers) + (step.body ?? ""))
  return uses === 0 ? own : own + uses * answerBytes + heaviestCall
}

/** As many as are kept of one. */
const answerBytes = 10_000

/**
 * A start guard that saw the chain before its steps were replaced has written so much later which
 * version it started. Statements are cut off after half a minute.
 */
const startingMinutes = 5

/** Removes versions that no chain and no run needs any more, of one chain or of all. */
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
            OR chain_versions.replaced_at > now() - ${startingMinutes} * interval '1 minute'
          )
      )`
}

/** What decides where a run goes after each step. */
export interface Outline {
  readonly version_id: string
  readonly names: ReadonlyArray<string>
  readonly conditions: ReadonlyArray<ChainStep["run_if"]>
}

export const findOutlines = (sql: SqlClient.SqlClient, versions: ReadonlyArray<string>) =>
  sql<Outline>`
    SELECT
      version_id,
      array_agg(name ORDER BY step_index) AS names,
      array_agg(run_if ORDER BY step_index) AS conditions
    FROM chain_steps
    WHERE version_id = ANY (${versions}::uuid[])
    GROUP BY version_id`
