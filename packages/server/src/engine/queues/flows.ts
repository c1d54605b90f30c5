import type { Flow } from "@scheduling/domain/queues/Flow"
import { parseTemplate, type Reference } from "@scheduling/domain/calls/Template"
import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"

// While runs use a key of a flow, the key has a row in `queues`. The SQL function `use_flow`
// creates the row in the statement that adds the run, and `deleteUnusedFlows` deletes it when it is idle.

/**
 * The lowest id of a flow's queue. The ids of all such queues begin with its first digit, so that
 * they sort after the ids of named queues.
 */
export const firstFlowId = "f0000000-0000-0000-0000-000000000000"

/** The columns of a task that decide the queue of a run in a flow. */
export interface TaskFlowColumns {
  readonly flow: Flow | null
  readonly flow_parts: FlowParts | null
}

/** The literal strings and the references in a flow's key. */
export type FlowParts = ReadonlyArray<
  string | { readonly value: string; readonly path?: ReadonlyArray<string> }
>

/** Returns the stored form of the references in a key, or null if it has none. */
export const flowPartsOf = (key: string): FlowParts | null => {
  const template = Result.getOrElse(parseTemplate(key), () => [key])
  const parts = template.map((part) => (typeof part === "string" ? part : storedReference(part)))
  return parts.length === 1 && parts[0] === key ? null : parts
}

const storedReference = (reference: Reference) =>
  reference.root === "input"
    ? { value: "input", path: reference.path.map(String) }
    : { value: reference.text }

/**
 * SQL for the queue of a run in the flow of a row of `tasks`, or null if the task has no flow. It
 * creates the queue.
 */
export const flowQueueSql = (
  run: { readonly id: string; readonly input: string },
  task = "tasks"
) => `
  CASE WHEN ${task}.flow IS NOT NULL THEN
    use_flow(${task}.workspace_id, ${flowKeySql(run, task)}, ${task}.flow, ${task}.updated_at)
  END`

/**
 * SQL to join `tasks` with the queue of a run that is due now. `flow_queue_id` is the id of the
 * queue. `free_slot` is the same id if the run takes a slot immediately, and null otherwise. Both
 * are null if the task has no flow.
 */
export const enterFlow = (run: { readonly id: string; readonly input: string }) => `
  LEFT JOIN LATERAL enter_flow(
    tasks.workspace_id, CASE WHEN tasks.flow IS NOT NULL THEN ${flowKeySql(run)} END,
    tasks.flow, tasks.updated_at
  ) ON true`

/** SQL for a run's key in the flow of a row of `tasks`. */
export const flowKeySql = (run: { readonly id: string; readonly input: string }, task = "tasks") =>
  `flow_key(${task}.flow, ${task}.flow_parts, ${run.id}, ${task}.name, ${task}.key, ${run.input})`

/**
 * SQL for the flow key of a row of `runs`. Null if the run has no flow. It also works in the
 * statement that creates the queue.
 */
export const flowKeyOfRun = `
  CASE WHEN runs.queue_id >= '${firstFlowId}' THEN key_of_flow(runs.queue_id) END`

/**
 * `flows` contains the queues of the runs in `in_flows`. The keys are used in order, so that two
 * statements with the same keys do not deadlock.
 */
export const flowQueuesCte = `flows AS MATERIALIZED (
      SELECT run_id, use_flow(workspace_id, given_key, flow, updated_at) AS flow_queue_id
      FROM (
        SELECT *
        FROM in_flows
        ORDER BY workspace_id, given_key
      ) AS in_order
    )`

/** Maximum number of runs in one pass of `findDueInFlows`. */
const maxDuePerPass = 5_000

/**
 * How long before its due time a run is found. This is longer than the interval between two
 * searches, so that no run is missed.
 */
const dueAheadMs = 2_000

/**
 * The progress of `findDueInFlows`: the time as text, and the queue of the last run that it found.
 */
export interface FlowScanPosition {
  readonly until: string
  readonly until_queue: string
}

export const flowScanStart: FlowScanPosition = { until: "-infinity", until_queue: firstFlowId }

/**
 * Finds the queues of the parked runs in flows that have become due since the previous pass, or
 * will soon. Runs that are due when they are added are announced by signals. This query finds the
 * others, such as runs of delayed tasks and all runs after an outage, without going through all
 * keys.
 */
export const findDueInFlows = (sql: SqlClient.SqlClient, after: FlowScanPosition) =>
  sql<FlowScanPosition & { readonly queues: ReadonlyArray<string> }>`
    SELECT
      coalesce(array_agg(DISTINCT queue_id), '{}') AS queues,
      CASE
        WHEN count(*) = ${maxDuePerPass} THEN max(due_at)
        ELSE now() + ${dueAheadMs} * interval '1 millisecond'
      END::text AS until,
      CASE
        WHEN count(*) = ${maxDuePerPass}
        THEN (array_agg(queue_id ORDER BY due_at DESC, queue_id DESC))[1]
        ELSE ${firstFlowId}::uuid
      END AS until_queue
    FROM (
      SELECT queue_id, due_at
      FROM runs
      WHERE ${sql.literal(isInPhase("parked"))}
        AND queue_id >= ${sql.literal(`'${firstFlowId}'`)}
        AND (due_at, queue_id) > (${after.until}::timestamptz, ${after.until_queue}::uuid)
        AND due_at <= now() + ${dueAheadMs} * interval '1 millisecond'
      ORDER BY due_at, queue_id
      LIMIT ${maxDuePerPass}
    ) AS due`

/** The maximum number of keys that one transaction deletes. */
const batch = 1_000

/**
 * SQL for whether no run uses a row of `queues`. A run uses the row if it waits in the queue, holds
 * a slot of it, or will wait in it later.
 */
const hasNoRun = `NOT EXISTS (
    SELECT
    FROM runs
    WHERE ${isInPhase("parked")}
      AND runs.queue_id = queues.id
  )
  AND NOT EXISTS (
    SELECT
    FROM runs
    WHERE runs.slot_queue_id = queues.id
  )
  AND NOT EXISTS (
    SELECT
    FROM runs
    WHERE runs.queue_id = queues.id
      AND runs.queue_id >= '${firstFlowId}'
      AND runs.phase <> 'parked'
      AND runs.slot_queue_id IS DISTINCT FROM runs.queue_id
  )`

/**
 * Deletes the keys that no run uses. A key is kept while its rate delays the next run, or while a
 * slot is held for a lost call. The rows are locked by one statement, and a later statement looks
 * for runs, so that it sees the runs of transactions that used the key before.
 */
export const deleteUnusedFlows = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  let after: string | undefined = firstFlowId
  while (after !== undefined)
    after = yield* Effect.orDie(sql.withTransaction(forgetSome(sql, after)))
})

/** Returns the last key of the batch, or undefined if there are no more. */
const forgetSome = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, after: string) {
  const candidates = yield* sql<{ readonly id: string; readonly is_idle: boolean }>`
    SELECT
      id,
      next_at <= now()
        AND NOT EXISTS (SELECT FROM unnest(held_until) AS held (until) WHERE until > now())
        AND ${sql.literal(hasNoRun)} AS is_idle
    FROM queues
    WHERE id > ${after}
      AND flow_key IS NOT NULL
    ORDER BY id
    LIMIT ${batch}`
  const idle = candidates.filter(({ is_idle }) => is_idle).map(({ id }) => id)
  if (idle.length > 0) {
    const locked = yield* sql<{ readonly id: string }>`
      SELECT id
      FROM queues
      WHERE id = ANY (${idle}::uuid[])
      ORDER BY id
      FOR UPDATE SKIP LOCKED`
    yield* sql`
      DELETE FROM queues
      WHERE id = ANY (${locked.map(({ id }) => id)}::uuid[])
        AND ${sql.literal(hasNoRun)}`
  }
  return candidates.length < batch ? undefined : candidates.at(-1)?.id
})
