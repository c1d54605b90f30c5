import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import {
  recordAsCancelled,
  requestCancel,
  type StoppableRun,
  stoppableColumns,
  type Stopped,
  type TaskRef
} from "./Cancel.ts"

/** So many runs are stopped by one transaction, so that nobody waits for it for long. */
const batch = 500

/**
 * What is stopped by one row, however long its queue is: the runs of a task, or of a workspace that
 * is gone, up to one. Whoever starts runs asks for it; the queue is cleared behind that, in batches.
 */
export interface Stop {
  /** Of the task, or of the workspace. */
  readonly id: string
  readonly workspace_id: string
  /** The `ordinal` of the last run that is stopped. A bigint, as text. */
  readonly up_to: string
}

/**
 * Whether a row of `runs` came into the queue before it was stopped. Mostly nothing is stopped, which
 * is found out once per statement: to ask for each run is 3 µs.
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

/** The row of the task must be locked, or gone: no run comes in meanwhile. */
export const stopTask = (sql: SqlClient.SqlClient, { task_id, workspace_id }: TaskRef) =>
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
  /** More may be left. */
  readonly isFull: boolean
}

/**
 * Stops some of the runs: those that are queued are recorded as cancelled, but for slots that are
 * still to come. Runs that another transaction has locked are left for the next time, so that this
 * one waits for nobody. Call it in a transaction.
 */
export const clearSome = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, stop: Stop) {
  const ofWorkspace = stop.id === stop.workspace_id
  const runs = yield* sql<StoppableRun & { readonly leaves_trace: boolean }>`
    SELECT
      ${sql.literal(stoppableColumns)},
      ${ofWorkspace ? sql`false` : sql`slot_at IS NULL OR slot_at <= now() OR started_at IS NOT NULL`}
        AS leaves_trace
    FROM runs
    WHERE ${toClear(sql, stop)}
    LIMIT ${batch}
    FOR UPDATE SKIP LOCKED`
  const ended = yield* recordAsCancelled(
    sql,
    runs.filter((run) => run.leaves_trace)
  )
  const traceless = runs
    .filter((run) => run.state === "queued" && !run.leaves_trace)
    .map((run) => run.id)
  if (traceless.length > 0) {
    yield* sql`
      DELETE FROM runs
      WHERE workspace_id = ${stop.workspace_id}
        AND id = ANY (${traceless}::uuid[])`
  }
  const cleared: Cleared = {
    found: runs.length,
    isFull: runs.length === batch,
    ended: [...ended, ...traceless],
    requested: yield* requestCancel(sql, runs)
  }
  return cleared
})

/** Runs that `clearSome` may find next. */
export const findToClear = (sql: SqlClient.SqlClient, stop: Stop) =>
  sql<{ readonly id: string }>`
    SELECT id
    FROM runs
    WHERE ${toClear(sql, stop)}
    LIMIT ${batch}`.pipe(Effect.map((rows) => rows.map(({ id }) => id)))

/** Once nothing is left to stop. What is running then was told to end. */
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
  AND ${stop.id === stop.workspace_id ? sql`true` : sql`task_id = ${stop.id}`}
  AND ordinal <= ${stop.up_to}::bigint
  AND NOT cancel_requested`
