import { nextSlot } from "@scheduling/schedules/slots"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { isAheadOfClock, retryAfterDeadlock, runInOwnTransactions } from "../../store/index.ts"
import { maxSlotHoldSeconds } from "../queues/heldSlots.ts"
import { calendarDaysOf } from "../firing/calendarDays.ts"
import type { DueTask } from "../firing/decideFire.ts"
import { agentLeaseMs } from "../Nodes.ts"
import { hasBegun } from "../RunState.ts"

/**
 * Returns whether the clock was set back since a node was last up: the time that the node recorded
 * is in the future.
 */
export const wasClockSetBack = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly yes: boolean }>`
      SELECT EXISTS (
        SELECT
        FROM absences
        WHERE ${sql.literal(isAheadOfClock("began_at"))}
      ) AS yes`,
    ([row]) => row?.yes === true
  )

/**
 * Corrects the times of the engine that were written before the database clock was set back. ADR 47
 * lists all of them. It can be run at any time and repeatedly.
 *
 * 1. `refireSome`: tasks that have fired ahead of the corrected clock continue from the current
 *    time, in one transaction per batch.
 * 2. `correctDueTimes` and the functions after it each correct one kind of time, in transactions of
 *    their own.
 * 3. `correctAbsences` comes last: until then, a node that starts sees that the clock was set back
 *    and repeats all of this.
 */
export const correctRunTimesAfterClockSetBack = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
) {
  for (let after = firstTask; after !== undefined;) {
    after = yield* retryAfterDeadlock(sql.withTransaction(refireSome(sql, after)))
  }
  yield* runInOwnTransactions(
    correctDueTimes(sql),
    correctCompletionDeadlines(sql),
    correctStartTimes(sql),
    correctQueues(sql),
    correctNodes(sql),
    correctWorkers(sql),
    correctCalendars(sql),
    correctAbsences(sql)
  )
})

/**
 * Limits the due times of runs that have not started. Slots and delayed tasks keep their times,
 * because users know them.
 */
const correctDueTimes = (sql: SqlClient.SqlClient) => {
  const begun = sql.literal(hasBegun())
  return sql`
    UPDATE runs
    SET due_at = ahead.right_at, scheduled_for = least(runs.scheduled_for, ahead.right_at)
    FROM (
      SELECT
        runs.workspace_id, runs.id,
        CASE
          WHEN attempt > 1
          THEN now() + greatest(interval '0', due_at - attempt_started_at)
          ELSE greatest(now(), tasks.run_at)
        END AS right_at
      FROM runs
      LEFT JOIN tasks ON tasks.id = runs.task_id AND runs.trigger = 'schedule'
      WHERE NOT ${begun}
        AND ${sql.literal(isAheadOfClock("due_at"))}
        AND CASE
          WHEN attempt > 1 THEN ${sql.literal(isAheadOfClock("attempt_started_at"))}
          WHEN trigger = 'schedule' THEN tasks.run_at < due_at
          ELSE true
        END
    ) AS ahead
    WHERE runs.workspace_id = ahead.workspace_id
      AND runs.id = ahead.id
      AND NOT ${begun}`
}

/**
 * Restarts the time limit of runs that await their completion. A step that waits until a given time
 * keeps that time.
 */
const correctCompletionDeadlines = (sql: SqlClient.SqlClient) => sql`
    UPDATE runs
    SET
      completes_by = CASE
        WHEN pause ->> 'until' IS NULL THEN now() + (completes_by - attempt_started_at)
        ELSE completes_by
      END,
      awaiting_since = least(awaiting_since, now())
    WHERE completes_by IS NOT NULL
      AND ${sql.literal(isAheadOfClock("attempt_started_at"))}`

const correctStartTimes = (sql: SqlClient.SqlClient) => sql`
    UPDATE runs
    SET
      started_at = least(started_at, now()),
      attempt_started_at = least(attempt_started_at, now()),
      awaiting_since = least(awaiting_since, now())
    WHERE ${sql.literal(isAheadOfClock("greatest(started_at, attempt_started_at, awaiting_since)"))}`

/**
 * Corrects the next start times of queues with a rate, and the slots that are held for lost calls.
 */
const correctQueues = (sql: SqlClient.SqlClient) => sql`
    UPDATE queues
    SET
      next_at = least(next_at, now() + coalesce(interval '1 second' / rate_per_second, interval '0')),
      held_until = ARRAY (
        SELECT least(until, now() + ${maxSlotHoldSeconds} * interval '1 second')
        FROM unnest(held_until) AS until
      )
    WHERE ${sql.literal(isAheadOfClock("next_at"))}
      OR held_until <> '{}'`

const correctNodes = (sql: SqlClient.SqlClient) => sql`
    UPDATE nodes
    SET
      lease_until = least(lease_until, now() + ${agentLeaseMs} * interval '1 millisecond'),
      suspected_at = least(suspected_at, now())
    WHERE lease_until < 'infinity'
      AND (
        lease_until > now() + ${agentLeaseMs} * interval '1 millisecond'
        OR suspected_at > now()
      )`

const correctWorkers = (sql: SqlClient.SqlClient) => sql`
    UPDATE workers
    SET missed_at = least(missed_at, now() + interval '1 minute')
    WHERE missed_at > now() + interval '1 minute'`

/** Makes calendars due for another fetch if their last fetch is dated in the future. */
const correctCalendars = (sql: SqlClient.SqlClient) => sql`
    UPDATE calendars
    SET check_at = now()
    WHERE ${sql.literal(isAheadOfClock("fetched_at"))}
      AND check_at > now()`

/** Corrects absences, by which `wasClockSetBack` recognizes that the clock was set back. */
const correctAbsences = (sql: SqlClient.SqlClient) => sql`
    UPDATE absences
    SET began_at = least(began_at, now()), ended_at = least(ended_at, now())
    WHERE began_at > now()
      OR ended_at > now()`

const firstTask: string | undefined = "00000000-0000-0000-0000-000000000000"

const batch = 500

type AheadTask = Pick<
  DueTask,
  "id" | "workspace_id" | "schedule" | "timezone" | "dst_overlap" | "firing_options" | "now_ms"
>

/**
 * Makes a batch of tasks fire from the current time on. These are tasks that have fired ahead, or
 * that were changed while the clock was ahead. Runs of future slots are withdrawn, so that these
 * slots fire at their times. Slots whose runs have started are not fired again: see
 * `firedAhead.ts`. Returns the last task of the batch, or undefined if there are no more.
 */
const refireSome = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, after: string) {
  const tasks = yield* sql<AheadTask>`
    SELECT
      id, workspace_id, schedule, timezone, dst_overlap, firing_options,
      date_part('epoch', now()) * 1000 AS now_ms
    FROM tasks
    WHERE id > ${after}
      AND next_fire_at IS NOT NULL
      AND ${sql.literal(isAheadOfClock("greatest(fired_until, updated_at)"))}
    ORDER BY id
    LIMIT ${batch}
    FOR NO KEY UPDATE`
  if (tasks.length === 0) return undefined
  const ids = tasks.map(({ id }) => id)
  const daysOf = yield* calendarDaysOf(sql, tasks)
  const next = tasks.flatMap((task) => {
    const fire = Result.try(() => nextSlotOf(task, daysOf(task)))
    if (Result.isFailure(fire)) return []
    return [{ id: task.id, next_fire_at: fire.success === null ? null : new Date(fire.success) }]
  })
  yield* sql`
    INSERT INTO fired_ahead (until)
    SELECT max(fired_until)
    FROM tasks
    WHERE id = ANY (${ids}::uuid[])
      AND fired_until > now()
    HAVING max(fired_until) IS NOT NULL
    ON CONFLICT (is_row) DO UPDATE
    SET until = greatest(fired_ahead.until, EXCLUDED.until)`
  yield* sql`
    DELETE FROM runs
    WHERE task_id = ANY (${ids}::uuid[])
      AND started_at IS NULL
      AND ${sql.literal(isAheadOfClock("slot_at"))}`
  yield* sql`
    UPDATE tasks
    SET next_fire_at = next.next_fire_at, fired_until = least(fired_until, now())
    FROM json_to_recordset(${JSON.stringify(next)}::json) AS next (id uuid, next_fire_at timestamptz)
    WHERE tasks.id = next.id`
  return tasks.length < batch ? undefined : tasks.at(-1)?.id
})

const nextSlotOf = (task: AheadTask, calendar_days: ReadonlySet<string> | undefined) =>
  nextSlot(task.schedule, TimeZone.make(task.timezone), task.now_ms, {
    ...task.firing_options,
    dst_overlap: task.dst_overlap,
    calendar_days
  })
