import { Clock, Effect, type Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { maxUnfinishedRunsPerTask } from "../../core/index.ts"
import type { QueuedRun } from "../Run.ts"
import { makeRunId } from "../RunId.ts"
import { enterFlow, flowKeyOfRun, flowQueueSql } from "../queues/flows.ts"

type Json = Schema.Json

/**
 * SQL for whether a task has reached its limit of unfinished runs. Most tasks have one or none, so
 * there is little to read.
 */
export const isAtRunLimit = (
  sql: SqlClient.SqlClient,
  taskId: Statement.Fragment,
  most = maxUnfinishedRunsPerTask
) => sql`
  EXISTS (
    SELECT
    FROM runs
    WHERE runs.task_id = ${taskId}
    OFFSET ${most - 1}
    LIMIT 1
  )`

/** The columns of a task that are copied into each of its runs. */
export const copiedTaskColumns =
  "id, workspace_id, lane, run_on, worker_wait_seconds, queue_id, priority, " +
  "flow, flow_parts, name, key, updated_at"

/** A run that was added. `queue_id` is the queue in which it waits, or null. */
export interface InsertedRun extends QueuedRun {
  readonly queue_id: string | null
}

/**
 * Adds a run. Returns null if the task has reached its limit of unfinished runs, or if `task` finds
 * no row. If a run in a flow is due now and no other run waits for the flow, the run takes a free
 * slot immediately, and no node has to admit it.
 */
export const enqueue = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Pick<QueuedRun, "workspace_id" | "task_id" | "kind" | "trigger"> & {
    /** When the run is due. Null, or a time in the past, means now. */
    readonly run_at: Date | null
    /**
     * A statement that creates or locks the task and returns `copiedTaskColumns`. It becomes part
     * of this statement.
     */
    readonly task?: Statement.Fragment
    /** A statement that records the creation of the task. */
    readonly event?: Statement.Fragment | undefined
    readonly most?: number
    /** The input of a run that a user starts. Null means no input. */
    readonly input?: Json | undefined
    /** Overrides the task's priority for this run. */
    readonly priority?: number | undefined
  }
) {
  const now = yield* Clock.currentTimeMillis
  const id = makeRunId(Math.max(now, run.run_at?.getTime() ?? now), now)
  const flow = run.run_at === null ? dueInFlow : laterInFlow
  const ifThere = sql.literal(run.task === undefined ? "" : "AND tasks.id IS NOT NULL")
  const insert = sql`
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      scheduled_for, due_at, run_on, worker_wait_seconds, queue_id, slot_queue_id, priority, state
    )
    SELECT
      ${id}::uuid, ${run.workspace_id}::uuid, ${run.task_id}::uuid, ${run.kind}, ${run.trigger},
      coalesce(tasks.lane, 0),
      ${run.kind === "chain" ? id : null}::uuid, ${run.kind === "chain" ? 0 : null}::smallint,
      greatest(now(), ${run.run_at}::timestamptz), greatest(now(), ${run.run_at}::timestamptz),
      tasks.run_on, tasks.worker_wait_seconds,
      coalesce(tasks.queue_id, ${sql.literal(flow.queue)}), ${sql.literal(flow.slot)},
      coalesce(${run.priority ?? null}::smallint, tasks.priority, 0),
      CASE
        WHEN tasks.queue_id IS NULL AND tasks.flow IS NULL THEN 'ready'
        WHEN ${sql.literal(flow.slot)} IS NOT NULL THEN 'ready'
        ELSE 'parked'
      END
    FROM (SELECT ${id}::uuid AS id, ${inputText(run.input)}::json AS input) AS run
    LEFT JOIN tasks ON tasks.id = ${run.task_id}::uuid
    ${sql.literal(flow.join)}
    WHERE NOT ${isAtRunLimit(sql, sql`${run.task_id}::uuid`, run.most)}
      ${ifThere}
    RETURNING
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step,
      ${sql.literal(flowKeyOfRun)} AS flow_key, 'queued' AS status, scheduled_for,
      CASE state WHEN 'parked' THEN queue_id END AS queue_id`
  const parts = [
    ...(run.task === undefined ? [] : [sql`tasks AS (${run.task})`]),
    ...(run.event === undefined ? [] : [sql`recorded AS (${run.event})`])
  ]
  const [inserted] = yield* sql<InsertedRun>`${withParts(sql, parts, insert, run.input)}`
  return inserted ?? null
})

const runInFlow = { id: "run.id", input: "run.input" }

const dueInFlow = { queue: "flow_queue_id", slot: "free_slot", join: enterFlow(runInFlow) }

const laterInFlow = { queue: flowQueueSql(runInFlow), slot: "NULL::uuid", join: "" }

const inputText = (input: Json = null) => (input === null ? null : JSON.stringify(input))

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
