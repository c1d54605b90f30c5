import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { announceApprovals } from "../../events/index.ts"
import { columnsOf } from "../../store/index.ts"
import { exchangeText } from "../history/exchangeText.ts"
import type { Settlement } from "../Run.ts"
import { toStorableText } from "./finish/input.ts"

/** A run that now awaits its completion, and the slot that it no longer needs. */
export interface NewlyAwaitingRun {
  readonly id: string
  readonly slot_queue_id: string | null
  /** Whether an event asks people to approve the step. */
  readonly is_announced: boolean
}

/**
 * Makes runs await their completion after the response to their call, or the end of the pause if
 * their step makes no call. If a cancellation was requested in the meantime, the run is overdue
 * immediately. A run that pauses frees its slot. The fence is the same as that of `finish`. For
 * each step that needs approval, an event asks people for it. Returns the runs that were still
 * leased.
 */
export const awaitCompletion = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const column = columnsOf(settlements.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  return yield* sql<NewlyAwaitingRun>`
    WITH awaiting AS (
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
      called_by = CASE WHEN input.pause IS NULL THEN input.lease_owner END,
      exchange = input.exchange,
      pause = input.pause::jsonb,
      slot_queue_id = CASE WHEN input.pause IS NULL THEN runs.slot_queue_id END
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("uuid", ({ id }) => id)},
      ${column("int4", ({ attempt }) => attempt)},
      ${column("int4", ({ lease_owner }) => lease_owner)},
      ${column("float8", ({ started_ms }) => started_ms)},
      ${column("float8", ({ completes_by_ms }) => completes_by_ms)},
      ${column("int4", ({ status_code }) => status_code)},
      ${column("text", ({ exchange }) => toStorableText(exchangeText(exchange)))},
      ${column("text", ({ pause }) => pause && JSON.stringify(pause))}
    ) AS input (
      workspace_id, id, attempt, lease_owner, started_ms, completes_by_ms, status_code, exchange,
      pause
    )
    WHERE runs.workspace_id = input.workspace_id
      AND runs.id = input.id
      AND runs.attempt = input.attempt
      AND runs.lease_owner = input.lease_owner
      AND runs.state = 'running'
    RETURNING
      runs.id, runs.workspace_id, runs.task_id, runs.chain_run_id, runs.step, runs.attempt,
      runs.completes_by, runs.pause, runs.cancel_requested,
      CASE WHEN runs.pause IS NOT NULL THEN (
        SELECT before.slot_queue_id
        FROM runs AS before
        WHERE before.workspace_id = runs.workspace_id
          AND before.id = runs.id
      ) END AS slot_queue_id
    ), ${sql.literal(announceApprovals)}
    SELECT id, slot_queue_id, id IN (SELECT execution_id FROM announced) AS is_announced
    FROM awaiting`
})
