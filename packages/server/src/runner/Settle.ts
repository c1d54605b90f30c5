import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../platform/columns.ts"
import { findFollowUps, type NextStep } from "./ChainRuns.ts"
import type { LeasedRun, Settlement } from "./Run.ts"

export interface Settled {
  readonly ids: ReadonlyArray<string>
  /** Executions and runs of chains that go on no more, be it that another node has written so. */
  readonly ended: ReadonlyArray<string>
  /** A run that waited for one of these may start now. */
  readonly released: boolean
  /** The next steps of chains, leased to the node that ended the ones before. */
  readonly next: ReadonlyArray<
    Pick<LeasedRun, "id" | "workspace_id" | "attempt" | "due_ms"> & {
      /** The step before it. */
      readonly after: string
    }
  >
}

/**
 * Writes what runs came to, in one statement. A run that ended leaves the queue for the history; one
 * with attempts left goes back into the queue; a chain's next step comes in, and inherits the wish
 * that the run stops, which may have come while the last step ended; and the oldest run that waited
 * for one of them, with all its steps, is let go. The fence is in the WHERE: a node that lost a lease
 * writes nothing. Rows are locked in the order that `transaction.ts` names: the delayed tasks first.
 */
export const settle = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const followUps = yield* findFollowUps(sql, settlements)
  const nextOf = ({ id }: Settlement) => followUps.get(id)?.next
  const skippedOf = ({ id }: Settlement) => {
    const skipped = followUps.get(id)?.skipped ?? []
    return skipped.length === 0 ? null : JSON.stringify(skipped)
  }
  const column = columnsOf(settlements.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const delayedTasks = settlements.flatMap(({ delayed_task_id, status }) =>
    delayed_task_id === null || status === null ? [] : [delayed_task_id]
  )
  const rows = yield* sql<{ readonly id: string; readonly released: boolean }>`
    WITH input AS (
      SELECT *
      FROM unnest(
        ${column("uuid", ({ workspace_id }) => workspace_id)},
        ${column("uuid", ({ id }) => id)},
        ${column("int4", ({ attempt }) => attempt)},
        ${column("int4", ({ lease_owner }) => lease_owner)},
        ${column("text", ({ status }) => status)},
        ${column("float8", ({ retry_delay_ms }) => retry_delay_ms)},
        ${column("bool", ({ lost }) => lost)},
        ${column("bool", ({ started }) => started)},
        ${column("float8", ({ started_ms }) => started_ms)},
        ${column("float8", ({ finished_ms }) => finished_ms)},
        ${column("int4", ({ status_code }) => status_code)},
        ${column("text", ({ response_body }) => storable(response_body))},
        ${column("text", ({ error }) => storable(error))},
        ${column("uuid", (settlement) => nextOf(settlement)?.id)},
        ${column("int2", (settlement) => nextOf(settlement)?.step_index)},
        ${column("text", (settlement) => nextOf(settlement)?.step)},
        ${column("text", skippedOf)}
      ) AS input (
        workspace_id, id, attempt, lease_owner, status, retry_delay_ms, lost, started, started_ms,
        finished_ms, status_code, response_body, error, next_id, next_step_index, next_step, skipped
      )
    ), locked AS MATERIALIZED (
      SELECT id
      FROM tasks
      WHERE id = ANY (${delayedTasks}::uuid[])
        AND status = 'pending'
      ORDER BY id
      FOR NO KEY UPDATE
    ), ended AS (
      DELETE FROM runs
      USING input
      WHERE runs.workspace_id = input.workspace_id
        AND runs.id = input.id
        AND runs.attempt = input.attempt
        AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner
        AND input.status IS NOT NULL
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING
        runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.trigger, runs.lane,
        runs.chain_run_id, runs.step_index, runs.step,
        runs.version_id, runs.after_failure,
        runs.scheduled_for, runs.attempt, runs.cancel_requested, runs.ordinal,
        CASE
          WHEN runs.started_at IS DISTINCT FROM runs.attempt_started_at THEN runs.started_at
          WHEN input.started
          THEN coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
          -- Between two attempts. A run that was stopped before its time never started.
          WHEN runs.state = 'queued' THEN runs.started_at
        END AS started_at,
        coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at) AS attempt_started_at,
        CASE WHEN NOT input.lost THEN runs.lease_owner END AS next_owner,
        input.status, input.started,
        CASE WHEN input.finished_ms IS NOT NULL
          THEN to_timestamp(greatest(input.finished_ms, input.started_ms) / 1000)
        END AS finished_at,
        CASE WHEN input.started THEN input.status_code ELSE runs.status_code END AS status_code,
        input.response_body, input.error,
        input.next_id, input.next_step_index, input.next_step, input.skipped
    ), again AS (
      UPDATE runs
      SET
        state = 'queued',
        attempt = runs.attempt + 1,
        lost = runs.lost + input.lost::integer,
        trigger = CASE WHEN input.lost AND runs.kind <> 'chain' THEN 'retry' ELSE runs.trigger END,
        due_at = CASE
          WHEN runs.cancel_requested THEN now()
          ELSE now() + input.retry_delay_ms * interval '1 millisecond'
        END,
        lease_owner = NULL,
        started_at = CASE
          WHEN runs.started_at = runs.attempt_started_at
          THEN coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
          ELSE runs.started_at
        END,
        attempt_started_at = coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at),
        status_code = input.status_code,
        error = input.error
      FROM input
      WHERE runs.workspace_id = input.workspace_id
        AND runs.id = input.id
        AND runs.attempt = input.attempt
        AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner
        AND input.status IS NULL
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING
        runs.id, runs.workspace_id, input.attempt, runs.attempt_started_at, input.started,
        CASE WHEN input.finished_ms IS NOT NULL
          THEN to_timestamp(greatest(input.finished_ms, input.started_ms) / 1000)
        END AS finished_at,
        input.status_code, input.response_body, input.error
    ), history AS (
      INSERT INTO executions (
        id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, status,
        scheduled_for, started_at, finished_at, lateness_ms, duration_ms,
        attempts_count, status_code, error
      )
      SELECT
        id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, status,
        scheduled_for, started_at, coalesce(finished_at, now()),
        date_part('epoch', started_at - scheduled_for) * 1000,
        date_part('epoch', coalesce(finished_at, now()) - started_at) * 1000,
        CASE WHEN started THEN attempt ELSE attempt - 1 END, status_code, error
      FROM ended
      UNION ALL
      SELECT
        passed.id, workspace_id, task_id, kind, 'chain', chain_run_id,
        passed.step_index, passed.step, 'skipped',
        now(), NULL, now(), NULL, NULL, 0, NULL, NULL
      FROM ended,
        json_to_recordset(skipped::json) AS passed (id uuid, step_index smallint, step text)
    ), tries AS (
      INSERT INTO attempts (
        execution_id, number, workspace_id, started_at, finished_at,
        status_code, response_body, error
      )
      SELECT
        id, attempt, workspace_id, attempt_started_at, finished_at,
        status_code, response_body, error
      FROM ended
      WHERE started
      UNION ALL
      SELECT
        id, attempt, workspace_id, attempt_started_at, finished_at,
        status_code, response_body, error
      FROM again
      WHERE started
    ), following AS (
      INSERT INTO runs (
        id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index, step,
        version_id, after_failure,
        scheduled_for, due_at, lease_owner, cancel_requested, ordinal
      )
      SELECT
        next_id, workspace_id, task_id, kind, 'chain', lane, chain_run_id, next_step_index,
        next_step, version_id, after_failure IS TRUE OR status = 'failed',
        now(), now(), next_owner, cancel_requested, ordinal
      FROM ended
      WHERE next_id IS NOT NULL
    ), delayed AS (
      UPDATE tasks
      SET status = 'finished'
      WHERE id = ANY (ARRAY (
          SELECT locked.id
          FROM locked
          JOIN ended ON ended.task_id = locked.id
        ))
    ), released AS (
      UPDATE runs
      SET waiting = false, due_at = greatest(due_at, now())
      WHERE (workspace_id, id) IN (
        SELECT DISTINCT ON (task_id) workspace_id, id
        FROM runs
        WHERE waiting
          AND task_id IN (SELECT task_id FROM ended WHERE next_id IS NULL)
          AND id NOT IN (SELECT id FROM input)
        ORDER BY task_id, id
      )
      RETURNING id
    )
    SELECT id, (SELECT count(*) > 0 FROM released) AS released
    FROM (SELECT id FROM ended UNION ALL SELECT id FROM again) AS settled`
  const ids = rows.map((row) => row.id)
  const written = new Set(ids)
  const settled: Settled = {
    ids,
    ended: settlements.flatMap((settlement) => endedBy(settlement, nextOf(settlement))),
    released: rows.some((row) => row.released),
    next: settlements.flatMap((settlement) => {
      const next = nextOf(settlement)
      return next === undefined || next === null || !written.has(settlement.id)
        ? []
        : [
            {
              id: next.id,
              after: settlement.id,
              workspace_id: settlement.workspace_id,
              attempt: 1,
              due_ms: 0
            }
          ]
    })
  }
  return settled
})

const endedBy = (
  { id, place, status }: Settlement,
  next: NextStep | null | undefined
): ReadonlyArray<string> => {
  if (status === null) return []
  // A run that never started has the id of its first step.
  return place === null || (next !== null && next !== undefined) ? [id] : [id, place.chain_run_id]
}

/** A NUL or half a surrogate pair in one answer would fail the statement for all of them. */
const storable = (text: string | null): string | null =>
  text === null ? null : text.replaceAll("\0", "\ufffd").toWellFormed()
