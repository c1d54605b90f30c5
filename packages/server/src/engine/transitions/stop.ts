import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import {
  isNotCalling,
  recordAsCancelled,
  requestCancel,
  type StoppableRun,
  stoppableColumns,
  type Stopped
} from "./cancel.ts"
import type { TaskOfRun } from "../Run.ts"
import { nothingSettled } from "../Settled.ts"

/** One transaction stops at most this many runs, so that nobody waits for it for long. */
const batch = 500

/**
 * One row stops all runs of a task, or of a deleted workspace, up to a certain run, however long
 * the queue is. Every statement that starts runs checks it. The queue is cleared afterwards, in
 * batches.
 */
export interface Stop {
  /** The id of the task or of the workspace. */
  readonly id: string
  readonly workspace_id: string
  /** The `ordinal` of the last run that is stopped. A bigint, as text. */
  readonly up_to: string
}

/**
 * Whether a row of `runs` came into the queue before its task or workspace was stopped. Usually
 * nothing is stopped. The first condition finds that out once per statement, because asking for
 * each run takes 3 µs.
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

/** The row of the task must be locked or gone, so that no run comes in meanwhile. */
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

export interface Cleared extends Stopped {
  readonly found: number
  /** Whether more may be left. */
  readonly isFull: boolean
}

/**
 * Stops some of the runs. Queued runs of a task are recorded as cancelled. Queued runs of a
 * workspace are deleted, as its history will be. Runs that another transaction has locked are left
 * for the next time, so that this one waits for nobody. Call it in a transaction.
 */
export const clearSome = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, stop: Stop) {
  const runs = yield* sql<StoppableRun>`
    SELECT ${sql.literal(stoppableColumns)}
    FROM runs
    WHERE ${toClear(sql, stop)}
    LIMIT ${batch}
    FOR UPDATE SKIP LOCKED`
  const cleared: Cleared = {
    found: runs.length,
    isFull: runs.length === batch,
    ...(isOfWorkspace(stop)
      ? {
          settlements: [],
          settled: { ...nothingSettled, finished: yield* removeQueued(sql, stop, runs) }
        }
      : yield* recordAsCancelled(sql, runs)),
    requested: yield* requestCancel(sql, runs)
  }
  return cleared
})

/** Returns the removed ids. */
const removeQueued = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { workspace_id }: Stop,
  runs: ReadonlyArray<StoppableRun>
) {
  const ids = runs.filter(isNotCalling).map((run) => run.id)
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
 * Removes the stop if nothing is left to clear. Running calls have been asked to end.
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
