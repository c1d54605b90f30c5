import { errorLine } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { announceEnded } from "../../events/index.ts"
import { columnsOf, undoneAlone } from "../../store/index.ts"
import { disableFailing } from "./disableFailing.ts"
import { findFollowUps } from "../chains/ChainRuns.ts"
import type { Settlement } from "../Run.ts"
import { nextTurn } from "../RunState.ts"
import { releaseWaiting } from "../releaseWaiting.ts"
import { endedBy, endsInFailure } from "./endedBy.ts"
import { endRuns, isHeld } from "./endRuns.ts"
import type { Settled } from "./Settled.ts"

/**
 * Writes the results of runs, in one statement:
 *
 * - A run that has ended moves from the queue to the history.
 * - A run with attempts left goes back to the queue.
 * - The next step of a chain is inserted. It inherits a request to stop, which may have come while
 *   the last step was ending.
 * - Once a run has ended with all its steps, the oldest run that waited for it is released.
 * - In a queue, another attempt and the next step wait for their turn. A run that was lost and a step
 *   of a chain that has begun go ahead of all that has not.
 *
 * The fence is in the WHERE: a node that lost a lease writes nothing. Rows are locked in the order
 * that `transaction.ts` names: the delayed tasks first.
 */
export const writeResults = Effect.fnUntraced(function* (
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
    /** The queue in which it held a slot. */
    readonly slot_queue_id: string | null
    /** The queue of its next attempt or step. */
    readonly queue_id: string | null
  }>`
    WITH input AS (
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
        ${column("text", ({ response_body }) => storable(response_body))},
        ${column("text", ({ error }) => storable(error && errorLine(error)))},
        ${column("uuid", (settlement) => nextOf(settlement)?.id)},
        ${column("int2", (settlement) => nextOf(settlement)?.step_index)},
        ${column("text", (settlement) => nextOf(settlement)?.step)},
        ${column("text", skippedOf)}
      ) AS input (
        workspace_id, id, attempt, lease_owner, awaited, row_at, status, retry_delay_ms, lost, started,
        started_ms, finished_ms, status_code, response_body, error, next_id, next_step_index, next_step, skipped
      )
    ), locked AS MATERIALIZED (
      SELECT id
      FROM tasks
      WHERE id = ANY (${delayedTasks}::uuid[])
        AND status = 'pending'
      ORDER BY id
      FOR NO KEY UPDATE
    ), ${sql.literal(endRuns)}, again AS (
      UPDATE runs
      SET
        state = ${sql.literal(nextTurn())},
        attempt = runs.attempt + 1,
        lost = runs.lost + input.lost::integer,
        trigger = CASE WHEN input.lost AND runs.kind <> 'chain' AND runs.trigger <> 'rerun' THEN 'retry' ELSE runs.trigger END,
        due_at = CASE
          WHEN runs.cancel_requested THEN now()
          WHEN input.lost AND runs.queue_id IS NOT NULL THEN 'epoch'
          -- By the node, which does not follow the clock of the database when that is wrong.
          ELSE least(now(), to_timestamp(input.finished_ms / 1000))
            + input.retry_delay_ms * interval '1 millisecond'
        END,
        lease_owner = NULL,
        slot_queue_id = NULL,
        started_at = CASE
          WHEN runs.attempt > 1 THEN runs.started_at
          ELSE coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
        END,
        attempt_started_at = coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at),
        status_code = input.status_code,
        error = input.error,
        awaiting_since = NULL,
        completes_by = NULL
      FROM input
      WHERE ${sql.literal(isHeld)}
        AND input.status IS NULL
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING
        runs.id, runs.workspace_id, input.attempt, runs.attempt_started_at, input.started,
        (
          SELECT before.slot_queue_id
          FROM runs AS before
          WHERE before.workspace_id = runs.workspace_id
            AND before.id = runs.id
        ) AS slot_queue_id,
        runs.queue_id,
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
        version_id, after_failure, queue_id, state,
        scheduled_for, due_at, lease_owner, cancel_requested, ordinal, run_on, worker_wait_seconds
      )
      SELECT
        next_id, ended.workspace_id, task_id, kind, 'chain', lane, chain_run_id, next_step_index,
        next_step, ended.version_id, after_failure IS TRUE OR status = 'failed',
        queue_id,
        CASE WHEN parks THEN 'parked' WHEN owner IS NULL THEN 'ready' ELSE 'leased' END,
        least(now(), finished_at),
        CASE WHEN parks THEN 'epoch' ELSE least(now(), finished_at) END,
        owner, cancel_requested, ordinal, place.run_on, place.worker_wait_seconds
      FROM ended
      LEFT JOIN LATERAL (
        SELECT run_on, worker_wait_seconds
        FROM chain_steps
        WHERE chain_steps.version_id = ended.version_id
          AND chain_steps.step_index = ended.next_step_index
        LIMIT 1
      ) AS place ON true
      CROSS JOIN LATERAL (
        SELECT
          queue_id IS NOT NULL AND NOT cancel_requested AS parks,
          CASE WHEN place.run_on IS NULL AND queue_id IS NULL THEN next_owner END AS owner
      ) AS turn
      WHERE next_id IS NOT NULL
    ), delayed AS (
      UPDATE tasks
      SET status = 'finished', ended_at = now()
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
      id, slot_queue_id, queue_id,
      (SELECT count(*) > 0 FROM released) AS released,
      (SELECT count(*) > 0 FROM announced) AS announced
    FROM (
      SELECT id, slot_queue_id, queue_id FROM ended
      UNION ALL
      SELECT id, slot_queue_id, queue_id FROM again
    ) AS settled`
  const ids = rows.map((row) => row.id)
  const written = new Set(ids)
  const waitsForTurn = new Set(rows.filter(({ queue_id }) => queue_id !== null).map(({ id }) => id))
  // The results are written, so nothing about this may make the caller write them again.
  const failed = settlements
    .filter((one) => written.has(one.id) && nextOf(one) == null && endsInFailure(one))
    .map(({ task_id }) => task_id)
  const disabled =
    failed.length === 0
      ? []
      : yield* undoneAlone(sql)(disableFailing(sql, failed)).pipe(
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
    queues: [
      ...new Set(
        rows.flatMap(({ queue_id, slot_queue_id }) =>
          [slot_queue_id, queue_id].filter((id) => id !== null)
        )
      )
    ],
    slots: rows.flatMap(({ id, slot_queue_id }) =>
      slot_queue_id === null ? [] : [{ id, queue_id: slot_queue_id }]
    ),
    announced: disabled.length > 0 || rows.some((row) => row.announced),
    next: settlements.flatMap((settlement) => {
      const next = nextOf(settlement)
      return next === undefined ||
        next === null ||
        next.on_worker ||
        !written.has(settlement.id) ||
        waitsForTurn.has(settlement.id)
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

/** A NUL or half a surrogate pair in one answer would make the statement fail for all runs. */
const storable = (text: string | null): string | null =>
  text === null ? null : text.replaceAll("\0", "\ufffd").toWellFormed()
