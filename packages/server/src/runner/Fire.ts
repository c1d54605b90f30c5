import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import {
  type DstOverlap,
  latestAtOrBefore,
  nextFire,
  Schedule
} from "@scheduling/domain/cron/Schedule"
import { TimeZone } from "@scheduling/domain/cron/TimeZone"
import { Effect, Option, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { LeasedRun } from "./Run.ts"
import { makeRunId } from "./RunId.ts"

export interface DueTask {
  readonly id: string
  readonly workspace_id: string
  readonly kind: ExecutionKind
  readonly schedule: string
  readonly timezone: string
  readonly missed: "skip" | "once"
  readonly dst_overlap: DstOverlap
  readonly next_fire_ms: number
  readonly now_ms: number
}

export interface Fire {
  /** The slot to run, or null where it was missed and is not made up for. */
  readonly slot_ms: number | null
  /** The last slot that is done with. */
  readonly fired_until_ms: number
  readonly next_fire_ms: number
}

/** Nodes fire seconds ahead, so a slot this old passed while none of them worked. */
const missedAfterMs = 60_000

/**
 * The slot that a due task runs now, and its next fire. However many slots have passed, only the
 * latest can run: `once` makes up for all of them by it, `skip` runs it only if it is not old.
 */
export const decideFire = (task: DueTask): Fire => {
  const schedule = Schedule.make(task.schedule)
  const timezone = TimeZone.make(task.timezone)
  const options = { dst_overlap: task.dst_overlap }
  const next = nextFire(schedule, timezone, task.next_fire_ms, options)
  if (next > task.now_ms) {
    return {
      slot_ms: runsLate(task, task.next_fire_ms),
      fired_until_ms: task.next_fire_ms,
      next_fire_ms: next
    }
  }
  const latest = Option.getOrElse(
    latestAtOrBefore(schedule, timezone, task.now_ms, next, options),
    () => next
  )
  return {
    slot_ms: runsLate(task, latest),
    fired_until_ms: latest,
    next_fire_ms: nextFire(schedule, timezone, task.now_ms, options)
  }
}

const runsLate = (task: DueTask, slotMs: number): number | null =>
  task.missed === "once" || slotMs > task.now_ms - missedAfterMs ? slotMs : null

/**
 * Fires up to `limit` tasks whose time comes within the look-ahead and leases their runs to the
 * node. Moving `next_fire_at` on and inserting the run is one transaction: a slot fires once.
 */
export const fire = Effect.fnUntraced(
  function* (
    sql: SqlClient.SqlClient,
    options: {
      readonly node: number
      readonly limit: number
      readonly lookAheadMs: number
      /** False: the runs are left to whichever node has room. */
      readonly lease: boolean
    }
  ) {
    const due = yield* sql<DueTask>`
    SELECT
      id, workspace_id, kind, schedule, timezone, missed, dst_overlap,
      date_part('epoch', next_fire_at) * 1000 AS next_fire_ms,
      date_part('epoch', now()) * 1000 AS now_ms
    FROM tasks
    WHERE next_fire_at <= now() + ${options.lookAheadMs} * interval '1 millisecond'
    ORDER BY next_fire_at
    LIMIT ${options.limit}
    FOR UPDATE SKIP LOCKED`
    if (due.length === 0) return { fired: 0, leased: [] }

    const fires = yield* Effect.forEach(due, fireOf)
    const inserted = yield* sql<LeasedRun & { readonly leased: boolean }>`
    WITH fires AS (
      SELECT *
      FROM json_to_recordset(${JSON.stringify(fires)}::json) AS fires (
        task_id uuid, workspace_id uuid, kind text, run_id uuid, step text,
        slot_at timestamptz, fired_until timestamptz, next_fire_at timestamptz
      )
    ), moved AS (
      UPDATE tasks
      SET
        next_fire_at = fires.next_fire_at,
        fired_until = coalesce(fires.fired_until, tasks.fired_until)
      FROM fires
      WHERE tasks.id = fires.task_id
    )
    INSERT INTO runs (
      id, workspace_id, task_id, kind, trigger, chain_run_id, step_index,
      slot_at, scheduled_for, due_at, lease_owner
    )
    SELECT
      run_id, workspace_id, task_id, kind, 'schedule',
      CASE kind WHEN 'chain' THEN run_id END,
      CASE kind WHEN 'chain' THEN 0 END,
      slot_at, slot_at, slot_at,
      (SELECT id FROM nodes WHERE id = ${options.node} AND died_at IS NULL AND ${options.lease})
    FROM fires
    WHERE run_id IS NOT NULL
    ON CONFLICT (task_id, slot_at) DO NOTHING
    RETURNING
      id, workspace_id, attempt,
      date_part('epoch', due_at) * 1000 AS due_ms,
      lease_owner IS NOT NULL AS leased`
    return { fired: due.length, leased: inserted.filter((run) => run.leased) }
  },
  (effect, sql) => sql.withTransaction(effect)
)

/** A schedule that cannot be read stops firing: it must not stop the tasks beside it. */
const fireOf = (task: DueTask) => {
  const fire = Result.try(() => decideFire(task))
  const row = { task_id: task.id, workspace_id: task.workspace_id, kind: task.kind }
  if (Result.isFailure(fire)) {
    return Effect.as(Effect.logError(`task ${task.id} cannot fire`, fire.failure), row)
  }
  const { fired_until_ms, next_fire_ms, slot_ms } = fire.success
  return Effect.succeed({
    ...row,
    fired_until: new Date(fired_until_ms),
    next_fire_at: new Date(next_fire_ms),
    ...(slot_ms === null
      ? {}
      : { run_id: makeRunId(slot_ms, task.now_ms), slot_at: new Date(slot_ms) })
  })
}
