import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import {
  hasNoCallInProgress,
  recordAsCancelled,
  requestCancel,
  type StoppableRun,
  stoppableRunColumns,
  type StopResult
} from "./cancel.ts"
import type { TaskOfRun } from "../Run.ts"
import { emptySettleResult } from "../SettleResult.ts"

/**
 * The maximum number of runs that one transaction stops, so that other transactions do not wait for
 * it for long.
 */
const batch = 500

/**
 * A row that stops all runs of a task, or of a deleted workspace, up to a certain run, however long
 * the queue is. Every statement that starts runs checks for such rows. The runs are cleared
 * afterwards, in batches.
 */
export interface Stop {
  /** The id of the task or of the workspace. */
  readonly id: string
  readonly workspace_id: string
  /** The `ordinal` of the last run that is stopped. A bigint as a string. */
  readonly up_to: string
}

/**
 * SQL for whether a row of `runs` was queued before its task or workspace was stopped. Usually
 * there are no stops, and the first condition finds that out once per statement. A lookup per run
 * would take 3 µs.
 */
export const isStopped = `(
  EXISTS (SELECT FROM stops)
  AND EXISTS (
    SELECT
    FROM stops
    WHERE stops.id IN (runs.task_id, runs.workspace_id)
      AND stops.up_to >= runs.ordinal
  )
)`

/**
 * Stops all current runs of a task. The row of the task must be locked or deleted, so that no run
 * is added in the meantime.
 */
export const stopTask = (sql: SqlClient.SqlClient, { task_id, workspace_id }: TaskOfRun) =>
  insertStop(sql, { id: task_id, workspace_id })

export const stopWorkspace = (sql: SqlClient.SqlClient, id: string) =>
  insertStop(sql, { id, workspace_id: id })

const insertStop = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  stop: Omit<Stop, "up_to">
) {
  const [row] = yield* sql<Stop>`
    INSERT INTO stops (id, workspace_id)
    VALUES (${stop.id}, ${stop.workspace_id})
    ON CONFLICT (id) DO UPDATE
    SET up_to = EXCLUDED.up_to
    RETURNING id, workspace_id, up_to::text`
  return row ?? (yield* Effect.die(new Error("INSERT returned no row")))
})

export const listStops = (sql: SqlClient.SqlClient) =>
  sql<Stop>`
    SELECT id, workspace_id, up_to::text
    FROM stops`

export interface ClearResult extends StopResult {
  readonly found: number
  /** Whether there may be more runs to stop. */
  readonly isFull: boolean
}

/**
 * Stops a batch of runs. Queued runs of a task are recorded as cancelled. Queued runs of a
 * workspace are deleted, as its history will be. Runs that another transaction has locked are
 * skipped until the next time. Call it in a transaction.
 */
export const clearStoppedRuns = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, stop: Stop) {
  const runs = yield* sql<StoppableRun>`
    SELECT ${sql.literal(stoppableRunColumns)}
    FROM runs
    WHERE ${toClear(sql, stop)}
    LIMIT ${batch}
    FOR UPDATE SKIP LOCKED`
  const cleared: ClearResult = {
    found: runs.length,
    isFull: runs.length === batch,
    ...(isOfWorkspace(stop)
      ? {
          settlements: [],
          settled: { ...emptySettleResult, finished: yield* removeQueued(sql, stop, runs) }
        }
      : yield* recordAsCancelled(sql, runs)),
    requested: yield* requestCancel(sql, runs)
  }
  return cleared
})

/** Deletes the runs whose call is not in progress, and returns their ids. */
const removeQueued = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { workspace_id }: Stop,
  runs: ReadonlyArray<StoppableRun>
) {
  const ids = runs.filter(hasNoCallInProgress).map((run) => run.id)
  if (ids.length > 0) {
    yield* sql`
      DELETE FROM runs
      WHERE workspace_id = ${workspace_id}
        AND id = ANY (${ids}::uuid[])`
  }
  return ids
})

const isOfWorkspace = (stop: Stop) => stop.id === stop.workspace_id

/**
 * Deletes the row of a stop if no run is left to clear. The nodes of running calls were already
 * asked to abort them.
 */
export const removeStop = (sql: SqlClient.SqlClient, stop: Stop) =>
  sql`
    DELETE FROM stops
    WHERE id = ${stop.id}
      AND up_to = ${stop.up_to}::bigint
      AND NOT EXISTS (
        SELECT
        FROM runs
        WHERE ${toClear(sql, stop)}
      )`

const toClear = (sql: SqlClient.SqlClient, stop: Stop) => sql`
  workspace_id = ${stop.workspace_id}
  AND ${isOfWorkspace(stop) ? sql`true` : sql`task_id = ${stop.id}`}
  AND ordinal <= ${stop.up_to}::bigint
  AND NOT cancel_requested`
