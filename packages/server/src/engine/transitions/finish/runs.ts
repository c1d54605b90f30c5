import type { SqlClient } from "effect/sql"
import type { Settlement } from "../../Run.ts"
import { flowKeyOfRun } from "../../queues/flows.ts"
import { hasBegun, waitingState } from "../../RunState.ts"
import { releaseBlocked } from "../release.ts"
import { fenceCondition } from "./input.ts"

/**
 * `locked` contains the delayed tasks that finish with their runs. Their rows are locked before any
 * run: see `transactionOf.ts`. CTEs that must run after `locked` count its rows.
 */
export const lockDelayedTasks = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) => {
  const taskIds = settlements.flatMap(({ kind, status, task_id }) =>
    kind === "delayed" && status !== null ? [task_id] : []
  )
  return sql`
    locked AS MATERIALIZED (
      SELECT id
      FROM tasks
      WHERE id = ANY (${taskIds}::uuid[])
        AND status = 'pending'
      ORDER BY id
      FOR NO KEY UPDATE
    )`
}

/**
 * The columns with the node or agent session that made the attempt, and with the details of its
 * exchange. A run that awaited its completion has no lease; its row has stored both since its
 * response.
 */
const attemptColumns = `
  CASE WHEN input.awaited THEN runs.called_by WHEN input.started THEN input.lease_owner END AS node,
  CASE WHEN input.started AND runs.run_on IS NOT NULL THEN (
    SELECT nodes.worker_id
    FROM nodes
    WHERE nodes.id = CASE WHEN input.awaited THEN runs.called_by ELSE input.lease_owner END
  ) END AS worker_id,
  CASE WHEN input.awaited THEN runs.exchange ELSE input.exchange END AS exchange`

const deleteRuns = (where: string) => `
      DELETE FROM runs
      USING input
      WHERE ${where}
        AND ${fenceCondition}
        AND input.status IS NOT NULL
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING
        runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.trigger, runs.lane,
        runs.chain_run_id, runs.step_index, runs.step,
        runs.version_id, runs.after_failure, runs.slot_queue_id, runs.queue_id, runs.priority,
        ${flowKeyOfRun} AS flow_key,
        runs.scheduled_for, runs.attempt, runs.cancel_requested, runs.ordinal,
        CASE
          WHEN runs.attempt > 1 THEN runs.started_at
          -- A run that was marked as running but stopped before its time has never started.
          WHEN input.started THEN coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
        END AS started_at,
        coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at) AS attempt_started_at,
        CASE WHEN NOT input.lost AND runs.run_on IS NULL THEN runs.lease_owner END AS next_owner,
        input.status, input.started,
        CASE WHEN input.finished_ms IS NOT NULL
          THEN to_timestamp(greatest(input.finished_ms, input.started_ms) / 1000)
        END AS finished_at,
        CASE WHEN input.started THEN input.status_code ELSE runs.status_code END AS status_code,
        input.response_body, input.error, ${attemptColumns},
        input.next_id, input.next_step_index, input.next_step, input.skipped`

/**
 * `finished` contains the runs that are deleted. Nearly all rows are still at the position at which
 * their runs started. Reading the rows at this position saves an index lookup for each. The fence
 * checks that the row is still the same. Rows that have moved since are found by id.
 */
export const removeFinished = (sql: SqlClient.SqlClient) => sql`
    finished_there AS (${sql.literal(deleteRuns("runs.ctid = input.row_at::tid"))}
    ), finished_elsewhere AS (${sql.literal(
      deleteRuns("input.id NOT IN (SELECT id FROM finished_there)")
    )}
    ), finished AS (
      SELECT * FROM finished_there
      UNION ALL
      SELECT * FROM finished_elsewhere
    )`

/**
 * SQL condition for a run to keep its slot until its next attempt, because its queue is a key of a
 * `fifo` flow. The slots of lost calls are held separately: see `heldSlots.ts`.
 */
const keepsSlot = `(
  runs.slot_queue_id = runs.queue_id
  AND NOT input.lost
  AND NOT runs.cancel_requested
  AND EXISTS (
    SELECT
    FROM queues
    WHERE queues.id = runs.queue_id
      AND queues.fifo
  )
)`

/**
 * SQL for the end of the delay before the next attempt. The delay begins when the call finished by
 * the node's clock, or now if that is earlier. The node's clock is used because it does not follow
 * a wrong database clock.
 */
const afterDelay = `least(now(), to_timestamp(input.finished_ms / 1000))
            + input.retry_delay_ms * interval '1 millisecond'`

/** SQL for when the next run of a flow with a rate may start. Null without a rate. */
const nextTurn = `(
  SELECT queues.next_at
  FROM queues
  WHERE queues.id = runs.queue_id
    AND queues.rate_per_second IS NOT NULL
)`

/**
 * `retried` contains the runs that get another attempt. A run of a queue waits for its turn, unless
 * it keeps its slot. A lost run goes ahead of all runs that have not begun. Usually no run is
 * retried, and then the queues are left out, so that the statement is planned faster.
 */
export const retryRuns = (sql: SqlClient.SqlClient, settlements: ReadonlyArray<Settlement>) => {
  const mayKeep = settlements.some(({ lost, status }) => status === null && !lost)
  const keeps = sql.literal(mayKeep ? keepsSlot : "false")
  return sql`
    retried AS (
      UPDATE runs
      SET
        state = CASE WHEN ${keeps} THEN 'ready' ELSE ${sql.literal(waitingState())} END,
        attempt = runs.attempt + 1,
        lost = runs.lost + input.lost::integer,
        trigger = CASE WHEN input.lost AND runs.kind <> 'chain' AND runs.trigger NOT IN ('rerun', 'backfill') THEN 'retry' ELSE runs.trigger END,
        due_at = CASE
          WHEN runs.cancel_requested THEN now()
          WHEN input.lost AND runs.queue_id IS NOT NULL THEN 'epoch'
          ${sql.literal(mayKeep ? `WHEN ${keepsSlot} THEN greatest(${afterDelay}, ${nextTurn})` : "")}
          ELSE ${sql.literal(afterDelay)}
        END,
        lease_owner = NULL,
        slot_queue_id = CASE WHEN ${keeps} THEN runs.slot_queue_id END,
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
      WHERE ${sql.literal(fenceCondition)}
        AND ${sql.literal(hasBegun())}
        AND input.status IS NULL
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING
        runs.id, runs.workspace_id, input.attempt, runs.attempt_started_at, input.started,
        CASE WHEN runs.slot_queue_id IS NULL THEN (
          SELECT before.slot_queue_id
          FROM runs AS before
          WHERE before.workspace_id = runs.workspace_id
            AND before.id = runs.id
        ) END AS slot_queue_id,
        CASE WHEN runs.slot_queue_id IS NULL THEN runs.queue_id END AS queue_id,
        runs.slot_queue_id AS kept_queue_id, runs.due_at,
        CASE WHEN input.finished_ms IS NOT NULL
          THEN to_timestamp(greatest(input.finished_ms, input.started_ms) / 1000)
        END AS finished_at,
        input.status_code, input.response_body, input.error, ${sql.literal(attemptColumns)}
    )${sql.literal(mayKeep ? spacedRetries : "")}`
}

/** CTEs that count the attempts of runs that kept their slots against the rates of their flows. */
const spacedRetries = `, spaced AS (
      UPDATE queues
      SET next_at = retried.due_at + interval '1 second' / queues.rate_per_second
      FROM retried
      WHERE queues.id = retried.kept_queue_id
        AND queues.rate_per_second IS NOT NULL
    )`

/**
 * `next_steps` contains the steps of chains that follow the finished ones. A step inherits a
 * request to cancel, which may have arrived while the previous step was finishing. A step of a
 * queue waits for its turn, ahead of all runs that have not begun, unless it makes no call. Other
 * steps are leased to the node that finished the previous step.
 */
export const insertNextSteps = (sql: SqlClient.SqlClient) => sql`
    next_steps AS (
      INSERT INTO runs (
        id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index, step,
        version_id, after_failure, queue_id, priority, state,
        scheduled_for, due_at, lease_owner, cancel_requested, ordinal, run_on, worker_wait_seconds
      )
      SELECT
        next_id, finished.workspace_id, task_id, kind, 'chain', lane, chain_run_id, next_step_index,
        next_step, finished.version_id, after_failure IS TRUE OR status = 'failed',
        queue_id, priority,
        CASE WHEN parks THEN 'parked' WHEN owner IS NULL THEN 'ready' ELSE 'leased' END,
        least(now(), finished_at),
        CASE WHEN parks THEN 'epoch' ELSE least(now(), finished_at) END,
        owner, cancel_requested, ordinal, step.run_on, step.worker_wait_seconds
      FROM finished
      LEFT JOIN LATERAL (
        SELECT run_on, worker_wait_seconds, pause
        FROM chain_steps
        WHERE chain_steps.version_id = finished.version_id
          AND chain_steps.step_index = finished.next_step_index
        LIMIT 1
      ) AS step ON true
      CROSS JOIN LATERAL (
        SELECT
          queue_id IS NOT NULL AND step.pause IS NULL AND NOT cancel_requested AS parks,
          CASE
            WHEN step.run_on IS NULL AND (queue_id IS NULL OR step.pause IS NOT NULL)
            THEN next_owner
          END AS owner
      ) AS turn
      WHERE next_id IS NOT NULL
    )`

/** `released` contains the runs that were blocked by a run that has finished with all its steps. */
export const releaseSuccessors = (sql: SqlClient.SqlClient) => sql`
    released AS (
      ${releaseBlocked(sql, {
        tasks: sql`
          SELECT DISTINCT task_id
          FROM finished
          WHERE next_id IS NULL`,
        except: sql`SELECT id FROM input`
      })}
    )`
