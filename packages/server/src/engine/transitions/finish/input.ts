import { errorLine } from "@scheduling/domain/executions/ExecutionError"
import type { SqlClient } from "effect/sql"
import { exchangeText } from "../../history/exchangeText.ts"
import type { FollowUp } from "../../chains/ChainRuns.ts"
import type { Settlement } from "../../Run.ts"
import { columnsOf } from "../../../store/index.ts"

/**
 * `input` has a row for each settlement, with the next step of its chain. The rows are sorted by
 * id, the order in which all transactions lock runs.
 */
export const inputCte = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>,
  followUps: ReadonlyMap<string, FollowUp>
) => {
  const column = columnsOf(settlements.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const nextOf = ({ id }: Settlement) => followUps.get(id)?.next
  const skippedOf = ({ id }: Settlement) => {
    const skipped = followUps.get(id)?.skipped ?? []
    return skipped.length === 0 ? null : JSON.stringify(skipped)
  }
  return sql`
    input AS (
      SELECT *
      FROM unnest(
        ${column("uuid", ({ workspace_id }) => workspace_id)},
        ${column("uuid", ({ id }) => id)},
        ${column("int4", ({ attempt }) => attempt)},
        ${column("int4", ({ lease_owner }) => lease_owner)},
        ${column("bool", ({ awaited }) => awaited)},
        ${column("text", ({ row_at }) => row_at)},
        ${column("text", ({ status }) => status)},
        ${column("float8", ({ retry_delay_ms }) => retry_delay_ms)},
        ${column("bool", ({ lost }) => lost)},
        ${column("bool", ({ started }) => started)},
        ${column("float8", ({ started_ms }) => started_ms)},
        ${column("float8", ({ finished_ms }) => finished_ms)},
        ${column("int4", ({ status_code }) => status_code)},
        ${column("text", ({ response_body }) => toStorableText(response_body))},
        ${column("text", ({ error }) => toStorableText(error && errorLine(error)))},
        ${column("text", ({ exchange }) => toStorableText(exchangeText(exchange)))},
        ${column("uuid", (settlement) => nextOf(settlement)?.id)},
        ${column("int2", (settlement) => nextOf(settlement)?.step_index)},
        ${column("text", (settlement) => nextOf(settlement)?.step)},
        ${column("text", skippedOf)}
      ) AS input (
        workspace_id, id, attempt, lease_owner, awaited, row_at, status, retry_delay_ms, lost, started,
        started_ms, finished_ms, status_code, response_body, error, exchange, next_id, next_step_index,
        next_step, skipped
      )
    )`
}

/**
 * Replaces NUL characters and lone surrogates, which PostgreSQL cannot store. One such response
 * would make the statement fail for all runs.
 */
export const toStorableText = (text: string | null): string | null =>
  text === null ? null : text.replaceAll("\0", "\ufffd").toWellFormed()

/**
 * SQL for the fence: only the holder of the lease of this attempt may write about a run. A run that
 * awaits its completion, or that no worker claimed, has no lease. For these runs, the fence checks
 * the state instead.
 */
export const fenceCondition = `(
  runs.workspace_id = input.workspace_id
  AND runs.id = input.id
  AND runs.attempt = input.attempt
  AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner
  AND (runs.state = 'awaiting') = input.awaited
)`
