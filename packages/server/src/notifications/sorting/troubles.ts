import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { hourMs } from "../../core/index.ts"
import type { Trouble } from "./decide.ts"
import type { OutboxRow } from "./OutboxRow.ts"

export interface TroubleRow extends Trouble {
  readonly subject_id: string
  readonly workspace_id: string
  readonly tags: ReadonlyArray<string>
  readonly data: OutboxRow["data"]
  /** When it is checked whether a success was missed. */
  readonly check_at: Date | null
}

/**
 * How long after a failure it is checked whether a success was missed. Two statements that settle runs
 * of one task at the same time do not see each other. They are over by then, as statements are cut
 * off after half a minute.
 */
export const checkAfterMs = 40_000

export const updateTroubles = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  changed: ReadonlyArray<TroubleRow>,
  ended: ReadonlyArray<string>
) {
  if (ended.length > 0) {
    yield* sql`
      DELETE FROM troubles
      WHERE subject_id = ANY (${ended}::uuid[])`
  }
  if (changed.length === 0) return
  yield* sql`
    INSERT INTO troubles (
      subject_id, workspace_id, event, failures, since, told_at, remind_at, check_at, tags, data
    )
    SELECT
      subject_id, workspace_id, event, failures, since, told_at, remind_at, check_at, tags, data
    FROM json_to_recordset(${JSON.stringify(changed)}::json) AS changed (
      subject_id uuid, workspace_id uuid, event text, failures integer, since timestamptz,
      told_at timestamptz, remind_at timestamptz, check_at timestamptz, tags text[], data jsonb
    )
    ON CONFLICT (subject_id) DO UPDATE
    SET
      event = EXCLUDED.event,
      failures = EXCLUDED.failures,
      since = EXCLUDED.since,
      told_at = EXCLUDED.told_at,
      remind_at = EXCLUDED.remind_at,
      check_at = EXCLUDED.check_at,
      data = EXCLUDED.data`
})

/**
 * Only successes are looked for that were due at most this long before the failure: a task may have a
 * long history.
 */
const lookBackMs = hourMs

export const announceMissed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  now: Date,
  limit: number
) {
  const checked = yield* sql`
    WITH due AS MATERIALIZED (
      SELECT subject_id, workspace_id, event, data
      FROM troubles
      WHERE check_at <= ${now}
      ORDER BY check_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ), announced AS (
      INSERT INTO outbox (workspace_id, event, subject_id, at, data)
      SELECT
        due.workspace_id, replace(due.event, 'failed', 'recovered'), due.subject_id,
        success.finished_at,
        jsonb_build_object(
          'execution_id', success.id,
          'chain_run_id', success.chain_run_id,
          'step', success.step,
          'kind', success.kind,
          'status_code', success.status_code,
          'error', NULL,
          'attempts', success.attempts_count
        )
      FROM due
      JOIN executions AS failure
        ON failure.workspace_id = due.workspace_id
        AND failure.id = (due.data ->> 'execution_id')::uuid
      CROSS JOIN LATERAL (
        SELECT *
        FROM executions AS ended
        WHERE ended.workspace_id = due.workspace_id
          AND ended.task_id = due.subject_id
          AND ended.id >= (
            lpad(to_hex(
              (date_part('epoch', failure.finished_at) * 1000)::bigint - ${lookBackMs}::bigint
            ), 12, '0') || repeat('0', 20)
          )::uuid
          AND ended.status = 'succeeded'
          AND ended.finished_at > failure.finished_at
          -- A chain run has succeeded once all of it has.
          AND NOT EXISTS (
            SELECT
            FROM runs
            WHERE runs.chain_run_id = ended.chain_run_id
          )
          AND NOT EXISTS (
            SELECT
            FROM executions AS other
            WHERE other.workspace_id = ended.workspace_id
              AND other.chain_run_id = ended.chain_run_id
              AND other.id >= ended.chain_run_id
              AND other.status IN ('failed', 'cancelled')
          )
        ORDER BY ended.finished_at DESC
        LIMIT 1
      ) AS success
    )
    UPDATE troubles
    SET check_at = NULL
    FROM due
    WHERE troubles.subject_id = due.subject_id
    RETURNING troubles.subject_id`
  return checked.length
})
