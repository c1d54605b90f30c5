import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { jitterMs } from "@scheduling/domain/cron/jitterMs"
import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { decideFire, type DueTask } from "../firing/decideFire.ts"
import { calendarDaysOf } from "../firing/calendarDays.ts"
import { firedAheadLimit, markFired } from "../firing/firedAhead.ts"
import { targetOf } from "./claim.ts"
import type { LeasedRun } from "../Run.ts"
import { rejectionReason } from "../firing/rejectionReason.ts"
import { makeRunId } from "../RunId.ts"
import { flowKeySql, flowQueuesCte } from "../queues/flows.ts"
import { lookAheadUntil, laneTurns, type LanePosition, type ClockLimit } from "../laneTurns.ts"

export interface FireOptions extends ClockLimit {
  readonly node: number
  readonly limit: number
  readonly lookAheadMs: number
  /**
   * If null, tasks fire in the order in which they are due. Otherwise the lanes take turns,
   * starting at this position.
   */
  readonly turns: LanePosition | null
  /**
   * Returns whether to lease a run of the share to this node. Any node with room can claim the runs
   * that are not leased.
   */
  readonly leases: (share: number) => boolean
}

/**
 * Fires up to `limit` tasks whose slot is within the look-ahead, and leases their runs to the node.
 * `next_fire_at` is advanced in the transaction that inserts the run, so each slot fires once.
 */
export const fire = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, options: FireOptions) {
    const due = yield* findDue(sql, options)
    const [first] = due
    if (first === undefined) return { fired: 0, leased: [], queues: [], reached: null }

    const daysOf = yield* calendarDaysOf(sql, due)
    const tasks = new Map<string, DueTask>()
    const decided = yield* Effect.forEach(
      due,
      Effect.fnUntraced(function* (task) {
        const fire = yield* fireOf(task, daysOf(task))
        if (fire.run_id === undefined) return fire
        tasks.set(fire.run_id, task)
        // A run that is due much later is not leased now. It is claimed when it is due.
        const isSoon =
          fire.due_at === undefined || +fire.due_at <= task.now_ms + options.lookAheadMs
        const mayLease = isSoon && !task.on_worker && task.queue_id === null && !task.in_flow
        return { ...fire, leases: mayLease && options.leases(task.share) }
      })
    )
    const fires = yield* markFired(sql, decided, first.fired_ahead_until_ms)
    const inserted = yield* insertFired(sql, options.node, fires)
    const leased = inserted.flatMap((run): ReadonlyArray<LeasedRun> => {
      const task = tasks.get(run.id)
      return run.leased && task !== undefined
        ? [{ ...run, share: task.share, target: task.target }]
        : []
    })
    const { reached_lane, reached_ms } = first
    const reached =
      reached_lane === null || reached_ms === null
        ? null
        : { at_ms: reached_ms, lane: reached_lane }
    const queues = inserted.flatMap(({ queue_id }) => queue_id ?? [])
    return { fired: due.length, leased, queues, reached }
  },
  (effect, sql) => sql.withTransaction(effect)
)

interface FiredRun extends Pick<LeasedRun, "id" | "workspace_id" | "attempt" | "due_ms"> {
  readonly leased: boolean
  readonly queue_id: string | null
}

/** Advances the tasks to their next slots, and adds the runs of the fired slots. */
const insertFired = (sql: SqlClient.SqlClient, node: number, fires: ReadonlyArray<FireRow>) => {
  const inFlow = fires.some(({ in_flow }) => in_flow)
  return sql<FiredRun>`
    WITH ${firedSlots(sql, node, fires)} ${sql.literal(inFlow ? flowsOfSlots : "")}
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, lane, chain_run_id, step_index,
      slot_at, scheduled_for, due_at, lease_owner, run_on, worker_wait_seconds,
      queue_id, priority, state
    )
    SELECT
      run_id, workspace_id, task_id, kind, 'schedule', lane,
      CASE kind WHEN 'chain' THEN run_id END,
      CASE kind WHEN 'chain' THEN 0 END,
      slot_at, coalesce(due_at, slot_at),
      -- A worker has as much time for a missed slot as for any other.
      greatest(coalesce(due_at, slot_at), CASE WHEN on_worker THEN now() END),
      CASE WHEN leases THEN (SELECT id FROM node) END,
      CASE WHEN on_worker THEN (SELECT run_on FROM tasks WHERE tasks.id = task_id) END,
      CASE WHEN on_worker THEN (SELECT worker_wait_seconds FROM tasks WHERE tasks.id = task_id) END,
      ${sql.literal(inFlow ? "coalesce(queue_id, flow_queue_id)" : "queue_id")}, priority,
      CASE
        WHEN queue_id IS NOT NULL OR in_flow THEN 'parked'
        WHEN leases AND EXISTS (SELECT FROM node) THEN 'leased'
        ELSE 'ready'
      END
    FROM slots ${sql.literal(inFlow ? "LEFT JOIN flows USING (run_id)" : "")}
    WHERE refusal IS NULL
    ON CONFLICT (task_id, slot_at) WHERE slot_at IS NOT NULL DO NOTHING
    RETURNING
      id, workspace_id, attempt, queue_id,
      date_part('epoch', due_at) * 1000 AS due_ms,
      lease_owner IS NOT NULL AS leased`
}

/** `flows` contains the queues of the slots whose tasks have a flow. */
const flowsOfSlots = `, in_flows AS (
      SELECT
        slots.run_id, tasks.workspace_id, tasks.flow, tasks.updated_at,
        ${flowKeySql({ id: "slots.run_id", input: "NULL" })} AS given_key
      FROM slots
      JOIN tasks ON tasks.id = slots.task_id
      WHERE slots.in_flow
        AND slots.refusal IS NULL
    ), ${flowQueuesCte}`

/**
 * `slots` contains the slots to run, with the reason if a slot is rejected. Rejected slots are
 * recorded here.
 */
const firedSlots = (sql: SqlClient.SqlClient, node: number, fires: ReadonlyArray<FireRow>) => sql`
    fires AS (
      SELECT *
      FROM json_to_recordset(${JSON.stringify(fires)}::json) AS fires (
        task_id uuid, workspace_id uuid, kind text, lane bigint, run_id uuid, step text,
        slot_at timestamptz, due_at timestamptz, fired_until timestamptz, next_fire_at timestamptz, leases boolean,
        on_worker boolean, queue_id uuid, in_flow boolean, priority smallint, has_fired boolean
      )
    ), moved AS (
      UPDATE tasks
      SET
        next_fire_at = fires.next_fire_at,
        fired_until = coalesce(fires.fired_until, tasks.fired_until)
      FROM fires
      WHERE tasks.id = fires.task_id
    ), node AS (
      SELECT id
      FROM nodes
      WHERE id = ${node}
        AND died_at IS NULL
    ), slots AS MATERIALIZED (
      SELECT
        *,
        ${rejectionReason(sql)} AS refusal
      FROM fires
      WHERE run_id IS NOT NULL
        AND has_fired IS NULL
    ), refused AS (
      INSERT INTO executions (
        id, workspace_id, task_id, kind, trigger, chain_run_id, step_index,
        status, scheduled_for, finished_at, attempts_count, error
      )
      SELECT
        run_id, workspace_id, task_id, kind, 'schedule',
        CASE kind WHEN 'chain' THEN run_id END,
        CASE kind WHEN 'chain' THEN 0 END,
        'skipped', coalesce(due_at, slot_at), greatest(now(), slot_at), 0, refusal
      FROM slots
      WHERE refusal IS NOT NULL
    )`

interface FoundTask extends DueTask {
  readonly fired_ahead_until_ms: number | null
  /** The due time at which the walk over the lanes stopped. Null if it reached the last lane. */
  readonly reached_ms: number | null
  readonly reached_lane: string | null
}

const findDue = (sql: SqlClient.SqlClient, options: FireOptions) => {
  const { limit, turns } = options
  const columns = sql.literal(`
      id, workspace_id, kind, schedule, timezone, missed, dst_overlap, firing_options,
      lane::text AS lane, (lane >> 32)::integer AS share,
      ${targetOf({ kind: "tasks.kind", task_id: "tasks.id", version_id: "tasks.version_id", step_index: "0" })} AS target,
      run_on IS NOT NULL AS on_worker, queue_id, flow IS NOT NULL AS in_flow, priority,
      date_part('epoch', next_fire_at) * 1000 AS next_fire_ms,
      ${firedAheadLimit} AS fired_ahead_until_ms,
      date_part('epoch', now()) * 1000 AS now_ms`)
  const horizon = lookAheadUntil(sql, options)
  if (turns === null) {
    return sql<FoundTask>`
    SELECT ${columns}, NULL AS reached_ms, NULL AS reached_lane
    FROM tasks
    WHERE next_fire_at <= ${horizon}
    ORDER BY next_fire_at, lane
    LIMIT ${limit}
    FOR UPDATE SKIP LOCKED`
  }
  return sql<FoundTask>`
    WITH RECURSIVE ${laneTurns(sql, {
      table: "tasks",
      moment: "next_fire_at",
      predicate: "next_fire_at IS NOT NULL",
      until: horizon,
      from: turns,
      limit,
      except: [],
      exceptAhead: []
    })}
    SELECT
      picked.*,
      (SELECT at_ms FROM reached) AS reached_ms,
      (SELECT lane FROM reached) AS reached_lane
    FROM turns
    CROSS JOIN LATERAL (
      SELECT ${columns}
      FROM tasks
      WHERE tasks.next_fire_at = turns.moment
        AND tasks.lane = turns.lane
      LIMIT turns.row_limit
      FOR UPDATE SKIP LOCKED
    ) AS picked`
}

interface FireRow {
  readonly task_id: string
  readonly workspace_id: string
  readonly kind: ExecutionKind
  readonly lane: string
  readonly priority: number
  readonly fired_until?: Date
  readonly next_fire_at?: Date
  readonly run_id?: string
  readonly slot_at?: Date
  /** When the run is due. Absent if the run is due at its slot. */
  readonly due_at?: Date
  readonly on_worker?: true
  readonly queue_id?: string
  readonly in_flow?: true
}

/**
 * Returns what to write for a due task. A task whose schedule cannot be read stops firing, so that
 * it does not hold up other tasks.
 */
const fireOf = (task: DueTask, days?: ReadonlySet<string>): Effect.Effect<FireRow> => {
  const fire = Result.try(() => decideFire(task, days))
  const { id, kind, lane, priority, workspace_id } = task
  const row = { task_id: id, workspace_id, kind, lane, priority }
  if (Result.isFailure(fire)) {
    return Effect.as(Effect.logError(`task ${task.id} cannot fire`, fire.failure), row)
  }
  const { fired_until_ms, next_fire_ms, slot_ms } = fire.success
  return Effect.succeed({
    ...row,
    fired_until: new Date(fired_until_ms),
    ...(next_fire_ms !== null && { next_fire_at: new Date(next_fire_ms) }),
    ...(slot_ms !== null && runOf(task, slot_ms)),
    ...(task.on_worker && { on_worker: true }),
    ...(task.queue_id !== null && { queue_id: task.queue_id }),
    ...(task.in_flow && { in_flow: true })
  })
}

/** The run of a slot. Its id contains the time at which it is due. */
const runOf = ({ firing_options, id, now_ms }: DueTask, slotMs: number) => {
  const jitter_seconds = firing_options?.jitter_seconds
  if (jitter_seconds === undefined) {
    return { run_id: makeRunId(slotMs, now_ms), slot_at: new Date(slotMs) }
  }
  const dueMs = slotMs + jitterMs(id, slotMs, jitter_seconds)
  return {
    run_id: makeRunId(dueMs, now_ms),
    slot_at: new Date(slotMs),
    due_at: new Date(dueMs)
  }
}
