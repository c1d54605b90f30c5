import { Clock, Effect, type Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { maxTaskRuns } from "../../core/index.ts"
import type { QueuedRun } from "../Run.ts"
import { makeRunId } from "../RunId.ts"

type Json = Schema.Json

/**
 * SQL for whether a task has reached its limit of unfinished runs. Most tasks have one or none, so
 * there is little to read.
 */
export const isFull = (
  sql: SqlClient.SqlClient,
  taskId: Statement.Fragment,
  most = maxTaskRuns
) => sql`
  EXISTS (
    SELECT
    FROM runs
    WHERE runs.task_id = ${taskId}
    OFFSET ${most - 1}
    LIMIT 1
  )`

/** The columns of a task that are copied into each of its runs. */
export const columnsForRuns = "id, lane, run_on, worker_wait_seconds, queue_id"

/** A run that was added. `queue_id` is the named queue in which it waits, or null. */
export interface InsertedRun extends QueuedRun {
  readonly queue_id: string | null
}

/**
 * Adds a run. Returns null if the task has reached its limit of unfinished runs, or if `task` finds
 * no row.
 */
export const enqueue = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Pick<QueuedRun, "workspace_id" | "task_id" | "kind" | "trigger"> & {
    /** Null or a time in the past means now. */
    readonly run_at: Date | null
    /**
     * A statement that creates or locks the task and returns `columnsForRuns`. It becomes part of
     * this statement.
     */
    readonly task?: Statement.Fragment
    /** A statement that records the creation of the task. */
    readonly event?: Statement.Fragment | undefined
    readonly most?: number
    /** The input of a run that a user starts. Null is the same as none. */
    readonly input?: Json | undefined
  }
) {
  const now = yield* Clock.currentTimeMillis
  const id = makeRunId(Math.max(now, run.run_at?.getTime() ?? now), now)
  const ifThere = sql.literal(run.task === undefined ? "" : "AND tasks.id IS NOT NULL")
  const insert = sql`
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      scheduled_for, due_at, run_on, worker_wait_seconds, queue_id, state
    )
    SELECT
      ${id}::uuid, ${run.workspace_id}::uuid, ${run.task_id}::uuid, ${run.kind}, ${run.trigger},
      coalesce(tasks.lane, 0),
      ${run.kind === "chain" ? id : null}::uuid, ${run.kind === "chain" ? 0 : null}::smallint,
      greatest(now(), ${run.run_at}::timestamptz), greatest(now(), ${run.run_at}::timestamptz),
      tasks.run_on, tasks.worker_wait_seconds,
      tasks.queue_id, CASE WHEN tasks.queue_id IS NULL THEN 'ready' ELSE 'parked' END
    FROM (SELECT) AS one
    LEFT JOIN tasks ON tasks.id = ${run.task_id}::uuid
    WHERE NOT ${isFull(sql, sql`${run.task_id}::uuid`, run.most)}
      ${ifThere}
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      'queued' AS status, scheduled_for, queue_id`
  const parts = [
    ...(run.task === undefined ? [] : [sql`tasks AS (${run.task})`]),
    ...(run.event === undefined ? [] : [sql`recorded AS (${run.event})`])
  ]
  const [inserted] = yield* sql<InsertedRun>`${withParts(sql, parts, insert, run.input)}`
  return inserted ?? null
})

/** Returns the statement with its CTEs, including one for the input of the run if it has one. */
const withParts = (
  sql: SqlClient.SqlClient,
  parts: ReadonlyArray<Statement.Fragment>,
  insert: Statement.Fragment,
  input: Json = null
) => {
  const list = sql.join(", ", false)
  if (input === null) return parts.length === 0 ? insert : sql`WITH ${list(parts)} ${insert}`
  const inserted = sql`inserted AS (${insert})`
  const kept = sql`
    kept AS (
      INSERT INTO run_inputs (id, workspace_id, input)
      SELECT id, workspace_id, ${JSON.stringify(input)}::json
      FROM inserted
    )`
  return sql`WITH ${list([...parts, inserted, kept])} SELECT * FROM inserted`
}
