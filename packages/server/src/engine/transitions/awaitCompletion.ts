import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { exchangeText } from "../history/exchangeText.ts"
import type { Settlement } from "../Run.ts"
import { storable } from "./finish/input.ts"

/**
 * Lets runs await their completion after the response to their call. If a run was cancelled
 * meanwhile, its completion is overdue immediately. Uses the fence of `finish`. Returns the ids of
 * the runs that were still leased.
 */
export const awaitCompletion = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const column = columnsOf(settlements.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const rows = yield* sql<{ readonly id: string }>`
    UPDATE runs
    SET
      state = 'awaiting',
      lease_owner = NULL,
      awaiting_since = now(),
      completes_by = CASE
        WHEN runs.cancel_requested THEN now()
        ELSE to_timestamp(input.completes_by_ms / 1000)
      END,
      started_at = CASE
        WHEN runs.attempt > 1 THEN runs.started_at
        ELSE coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
      END,
      attempt_started_at = coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at),
      status_code = input.status_code,
      error = NULL,
      called_by = input.lease_owner,
      exchange = input.exchange
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("uuid", ({ id }) => id)},
      ${column("int4", ({ attempt }) => attempt)},
      ${column("int4", ({ lease_owner }) => lease_owner)},
      ${column("float8", ({ started_ms }) => started_ms)},
      ${column("float8", ({ completes_by_ms }) => completes_by_ms)},
      ${column("int4", ({ status_code }) => status_code)},
      ${column("text", ({ exchange }) => storable(exchangeText(exchange)))}
    ) AS input (
      workspace_id, id, attempt, lease_owner, started_ms, completes_by_ms, status_code, exchange
    )
    WHERE runs.workspace_id = input.workspace_id
      AND runs.id = input.id
      AND runs.attempt = input.attempt
      AND runs.lease_owner = input.lease_owner
      AND runs.state = 'running'
    RETURNING runs.id`
  return rows.map(({ id }) => id)
})
