import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { announceEnded } from "../../outbox/endedRuns.ts"
import { columnsOf } from "../../sql/columns.ts"
import { type DisabledTask, disableFailing } from "../disableFailing.ts"
import { findFollowUps, type NextStep } from "../chains/ChainRuns.ts"
import type { LeasedRun, Settlement } from "../Run.ts"
import { releaseWaiting } from "../releaseWaiting.ts"

export interface Settled {
  readonly ids: ReadonlyArray<string>
  /** Executions and chain runs that have ended, even if another node wrote that. */
  readonly ended: ReadonlyArray<string>
  /** Whether a run that waited for one of these may start now, or a step on a worker. */
  readonly released: boolean
  /** Tasks that were paused because they have failed too often. */
  readonly disabled: ReadonlyArray<DisabledTask>
  /** Whether the outbox has something new. */
  readonly announced: boolean
  /** The next steps of chains, leased to the node that ended the steps before them. */
  readonly next: ReadonlyArray<
    Pick<LeasedRun, "id" | "workspace_id" | "attempt" | "due_ms"> & {
      /** The id of the step before it. */
      readonly after: string
    }
  >
}

/**
 * Writes the results of runs, in one statement:
 *
 * - A run that has ended moves from the queue to the history.
 * - A run with attempts left goes back to the queue.
 * - The next step of a chain is inserted. It inherits a request to stop, which may have come while
 *   the last step was ending.
 * - Once a run has ended with all its steps, the oldest run that waited for it is released.
 *
 * The fence is in the WHERE: a node that lost a lease writes nothing. Rows are locked in the order
 * that `transaction.ts` names: the delayed tasks first.
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
  // A delayed task ends with its run.
  const delayedTasks = settlements.flatMap(({ kind, status, task_id }) =>
    kind === "delayed" && status !== null ? [task_id] : []
  )
  const rows = yield* sql<{
    readonly id: string
    readonly released: boolean
    readonly announced: boolean
  }>`
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
          -- It was queued between two attempts. A run that was marked as running but stopped
          -- before its time has never started.
          WHEN runs.state = 'queued' THEN runs.started_at
        END AS started_at,
        coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at) AS attempt_started_at,
        CASE WHEN NOT input.lost AND runs.run_on IS NULL THEN runs.lease_owner END AS next_owner,
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
        trigger = CASE WHEN input.lost AND runs.kind <> 'chain' AND runs.trigger <> 'rerun' THEN 'retry' ELSE runs.trigger END,
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
        attempts_count, attempt_started_at, status_code, response_body, error
      )
      SELECT
        id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, status,
        scheduled_for, started_at, coalesce(finished_at, now()),
        CASE WHEN trigger <> 'rerun' THEN date_part('epoch', started_at - scheduled_for) * 1000 END,
        date_part('epoch', coalesce(finished_at, now()) - started_at) * 1000,
        CASE WHEN started THEN attempt ELSE attempt - 1 END,
        CASE WHEN started AND finished_at IS NOT NULL THEN attempt_started_at END,
        status_code,
        CASE WHEN started AND finished_at IS NOT NULL THEN response_body END,
        error
      FROM ended
      UNION ALL
      SELECT
        passed.id, workspace_id, task_id, kind, 'chain', chain_run_id,
        passed.step_index, passed.step, 'skipped',
        now(), NULL, now(), NULL, NULL, 0, NULL, NULL, NULL, NULL
      FROM ended,
        json_to_recordset(skipped::json) AS passed (id uuid, step_index smallint, step text)
    ), tries AS (
      INSERT INTO earlier_attempts (
        execution_id, number, workspace_id, started_at, finished_at,
        status_code, response_body, error
      )
      SELECT
        id, attempt, workspace_id, attempt_started_at, finished_at,
        status_code, response_body, error
      FROM ended
      WHERE started
        AND finished_at IS NULL
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
        scheduled_for, due_at, lease_owner, cancel_requested, ordinal, run_on, worker_wait_seconds
      )
      SELECT
        next_id, ended.workspace_id, task_id, kind, 'chain', lane, chain_run_id, next_step_index,
        next_step, ended.version_id, after_failure IS TRUE OR status = 'failed',
        now(), now(), CASE WHEN place.run_on IS NULL THEN next_owner END, cancel_requested,
        ordinal, place.run_on, place.worker_wait_seconds
      FROM ended
      LEFT JOIN LATERAL (
        SELECT run_on, worker_wait_seconds
        FROM chain_steps
        WHERE chain_steps.version_id = ended.version_id
          AND chain_steps.step_index = ended.next_step_index
        LIMIT 1
      ) AS place ON true
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
      ${releaseWaiting(
        sql,
        sql`task_id IN (SELECT task_id FROM ended WHERE next_id IS NULL)
        AND id NOT IN (SELECT id FROM input)`
      )}
    ), ${sql.literal(announceEnded)}
    SELECT
      id,
      (SELECT count(*) > 0 FROM released) AS released,
      (SELECT count(*) > 0 FROM announced) AS announced
    FROM (SELECT id FROM ended UNION ALL SELECT id FROM again) AS settled`
  const ids = rows.map((row) => row.id)
  const written = new Set(ids)
  // The results are written, so nothing about this may make the caller write them again.
  const disabled = yield* disableFailing(
    sql,
    settlements
      .filter((one) => written.has(one.id) && nextOf(one) == null && endsInFailure(one))
      .map(({ task_id }) => task_id)
  ).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logWarning("failing tasks could not be paused", error), [])
    )
  )
  const settled: Settled = {
    ids,
    ended: settlements.flatMap((settlement) => endedBy(settlement, nextOf(settlement))),
    released:
      rows.some((row) => row.released) ||
      settlements.some((settlement) => nextOf(settlement)?.on_worker),
    disabled,
    announced: disabled.length > 0 || rows.some((row) => row.announced),
    next: settlements.flatMap((settlement) => {
      const next = nextOf(settlement)
      return next === undefined || next === null || next.on_worker || !written.has(settlement.id)
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

/** A delayed task has nothing to pause. */
const endsInFailure = ({ kind, place, status }: Settlement): boolean =>
  kind !== "delayed" &&
  (status === "failed" || (status === "succeeded" && place?.after_failure === true))

const endedBy = (
  { id, place, status }: Settlement,
  next: NextStep | null | undefined
): ReadonlyArray<string> => {
  if (status === null) return []
  // A chain run that never started has the id of its first step.
  return place === null || (next !== null && next !== undefined) ? [id] : [id, place.chain_run_id]
}

/** A NUL or half a surrogate pair in one answer would make the statement fail for all runs. */
const storable = (text: string | null): string | null =>
  text === null ? null : text.replaceAll("\0", "\ufffd").toWellFormed()
