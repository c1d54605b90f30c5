import type { TaskStatus } from "@scheduling/domain/cron/ScheduleOptions"
import type { Precision } from "@scheduling/domain/cron/FiringOptions"
import { type DstOverlap, precisionProblem, Schedule } from "@scheduling/domain/schedules/Schedule"
import { intervalOf, parseIntervalSeconds } from "@scheduling/schedules/Interval"
import { nextSlotInSteps } from "@scheduling/schedules/slots"
import { missingTimingProblem } from "@scheduling/domain/schedules/Timing"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { type Conflict, type NotFound, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { Limits } from "../plans/index.ts"
import { runInSlices } from "../core/index.ts"
import { Outbox } from "../events/index.ts"
import { calendarDaysOf, type TaskFlowColumns, RunQueue } from "../engine/index.ts"
import { StoreClock } from "../store/index.ts"
import { calendarsUsedByOthers, recordCalendarUse } from "./CalendarsOfTasksRepo.ts"
import { queueCheck } from "./queueCheck.ts"
import { slotOptionsOf } from "./TaskOptions.ts"
import type { FiringColumns, TaskRef } from "./TaskRow.ts"

/** A row of `tasks`, for the kinds that can have a schedule. */
export interface ScheduledRow extends TaskRef, FiringColumns, TaskFlowColumns {
  readonly name: string
  readonly key: string | null
  readonly version: number
  readonly status: TaskStatus
  readonly schedule: string | null
  readonly timezone: string
  readonly dst_overlap: DstOverlap
  readonly queue_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Readonly<Record<keyof ScheduledRow, string>> = {
  id: "id",
  workspace_id: "workspace_id",
  name: "name",
  key: "key",
  version: "version",
  status: "status",
  schedule: "schedule",
  timezone: "coalesce(timezone, 'UTC')",
  dst_overlap: "coalesce(dst_overlap, 'first')",
  firing_options: "firing_options",
  paused_reason: "paused_reason",
  queue_id: "queue_id",
  flow: "flow",
  flow_parts: "flow_parts",
  next_fire_at: "next_fire_at",
  created_at: "created_at",
  updated_at: "updated_at"
}

/**
 * The select list for a `ScheduledRow`, for cron tasks and chains. A chain may have no
 * schedule.
 */
export const scheduledColumns = Object.entries(columns)
  .map(([name, value]) => (name === value ? name : `${value} AS ${name}`))
  .join(", ")

/** The `TasksRepo` method that schedules need. */
interface Writes<Row> {
  readonly update: (task: Row) => Effect.Effect<void>
}

/**
 * Creates the functions that write the schedules of cron tasks and chains. The next firing is
 * computed with the database clock, here and in the runner, while the row is locked. Call these
 * functions in the transaction that has locked the row.
 */
export const makeScheduleWriter = Effect.fnUntraced(function* <Row extends ScheduledRow>(
  repo: Writes<Row>,
  /** True if each task must have a schedule or an interval. */
  isRequired = false
) {
  const sql = yield* SqlClient.SqlClient
  const now = Effect.orDie((yield* StoreClock)(sql))
  const limits = yield* Limits
  const outbox = yield* Outbox
  const queue = yield* RunQueue
  const checkQueue = yield* queueCheck

  const wake = ({ next_fire_at }: Row) =>
    next_fire_at === null ? Effect.void : queue.wake(next_fire_at)

  const allowSchedule = ({ schedule, workspace_id }: Row) =>
    schedule === null ? Effect.void : limits.allowSchedule(workspace_id, schedule)

  const nextFireAfter = Effect.fnUntraced(function* (task: Row, after: Date) {
    const daysOf = yield* Effect.orDie(calendarDaysOf(sql, [task]))
    return yield* nextFireOf(task, after, daysOf(task))
  })

  /** Marks the calendar as used, so that it is not removed before this transaction commits. */
  const holdCalendar = Effect.fnUntraced(function* (task: Row) {
    const url = calendarOf(task)
    if (url === undefined || (yield* recordCalendarUse(sql, task.workspace_id, url, yield* now)))
      return
    return yield* invalid("excluded_calendar", "was removed at the same time: save it again")
  })

  /**
   * Checks the plan's limit of calendars. A calendar that another task also uses is not counted
   * twice, and a calendar that no task uses after the change is not counted.
   */
  const allowCalendar = Effect.fnUntraced(function* (task: Row, changed: Row = task) {
    const url = calendarOf(changed)
    const before = calendarOf(task)
    if (url === undefined) return
    const ofOthers = yield* calendarsUsedByOthers(sql, task, [url, before ?? url])
    const makesRoom = before !== undefined && before !== url && !ofOthers.has(before)
    if (ofOthers.has(url) || makesRoom) return
    yield* limits.allowOneMore(task.workspace_id, "calendars")
  })

  /**
   * Cancels the task's waiting runs. If the task has an open problem, it is dropped without
   * announcing a recovery.
   */
  const stop = Effect.fnUntraced(function* ({ id, workspace_id }: TaskRef) {
    yield* queue.stop({ workspace_id, task_id: id })
    yield* outbox.forget({ workspace_id, subject_id: id })
  })

  /**
   * Withdraws the scheduled runs of a task that is being paused. Runs that have started continue.
   */
  const withdrawScheduled = Effect.fnUntraced(function* ({ id, workspace_id }: TaskRef) {
    yield* queue.withdrawSlots({ workspace_id, task_id: id })
    yield* outbox.forget({ workspace_id, subject_id: id })
  })

  /**
   * Activates the task with its current schedule. Runs that the old schedule has created ahead of
   * time are withdrawn, unless they have started.
   */
  const activate = Effect.fnUntraced(function* (task: Row) {
    const after = yield* queue.withdrawSlots({ workspace_id: task.workspace_id, task_id: task.id })
    const fires: Row = {
      ...task,
      status: "active",
      paused_reason: null,
      next_fire_at: yield* nextFireAfter(task, after)
    }
    yield* repo.update(fires)
    yield* wake(fires)
    return fires
  })

  /** Moves the task's runs if its queue or its flow has changed. */
  const moveRuns = (task: Row, row: Row) => {
    const { flow, id, queue_id, workspace_id } = row
    if (queue_id === task.queue_id && isDeepStrictEqual(flow, task.flow)) return Effect.void
    const ref = { workspace_id, task_id: id }
    return flow === null ? queue.moveToQueue(ref, queue_id) : queue.moveToFlow(ref, row)
  }

  /** Returns the row with the next version and the current time as its time of change. */
  const changedNow = (task: Row) =>
    Effect.map(now, (updated_at): Row => ({ ...task, version: task.version + 1, updated_at }))

  return {
    stop,

    /**
     * Call this before locking the task. A change that counts against the plan, or that could make
     * dependencies circular, locks the workspace, which is always locked before its tasks.
     */
    beforeChange: (
      workspaceId: Row["workspace_id"],
      changes: {
        readonly every?: string | null
        readonly precision?: Precision | null
        readonly excluded_calendar?: object | null
        readonly queue_id?: string | null
        readonly depends_on?: ReadonlyArray<object>
      }
    ) =>
      Effect.andThen(
        changes.precision === "second" ||
          isBelowMinute(changes.every) ||
          (changes.depends_on ?? []).length > 0 ||
          isGiven(changes.excluded_calendar)
          ? limits.hold(workspaceId)
          : Effect.void,
        checkQueue(workspaceId, changes.queue_id)
      ),

    insert: Effect.fnUntraced(function* (
      task: Row,
      write: (row: Row) => Effect.Effect<void, NotFound | Conflict>
    ) {
      yield* checkFiring(task, isRequired)
      yield* allowSchedule(task)
      yield* holdCalendar(task)
      yield* allowCalendar(task)
      if (isPrecise(task)) yield* limits.allowOneMore(task.workspace_id, "second_precision_tasks")
      yield* checkQueue(task.workspace_id, task.queue_id)
      const next_fire_at =
        task.status === "paused" ? null : yield* nextFireAfter(task, task.created_at)
      const row: Row = { ...task, next_fire_at }
      yield* write(row)
      yield* wake(row)
      return row
    }),

    update: Effect.fnUntraced(function* (task: Row, changed: Row) {
      yield* checkFiring(changed, isRequired)
      if (changed.schedule !== task.schedule) yield* allowSchedule(changed)
      yield* holdCalendar(changed)
      if (calendarOf(changed) !== calendarOf(task)) yield* allowCalendar(task, changed)
      if (isPrecise(changed) && !isPrecise(task)) {
        yield* limits.allowOneMore(task.workspace_id, "second_precision_tasks")
      }
      const firesOtherwise =
        firing.some((field) => changed[field] !== task[field]) ||
        !isDeepStrictEqual(slotOptionsOf(changed), slotOptionsOf(task))
      const row = yield* changedNow(changed)
      yield* moveRuns(task, row)
      if (firesOtherwise && task.status === "active") return yield* activate(row)
      yield* repo.update(row)
      return row
    }),

    pause: Effect.fnUntraced(function* (task: Row, paused_reason: string | null = null) {
      if (task.status === "paused") return task
      const paused: Row = {
        ...(yield* changedNow(task)),
        status: "paused",
        paused_reason,
        next_fire_at: null
      }
      yield* repo.update(paused)
      yield* task.firing_options?.on_pause === "finish" ? withdrawScheduled(paused) : stop(paused)
      return paused
    }),

    /**
     * Recomputes an active task's next firing after its calendar has changed. The task's version
     * stays the same.
     */
    recompute: Effect.fnUntraced(function* (task: Row) {
      const next = yield* nextFireAfter(task, yield* now)
      if (next?.getTime() !== task.next_fire_at?.getTime()) yield* activate(task)
    }),

    resume: Effect.fnUntraced(function* (task: Row) {
      if (task.status === "active") return task
      yield* allowSchedule(task)
      yield* limits.allowResume(task.workspace_id, task.id)
      return yield* activate(yield* changedNow(task))
    })
  }
})

/** The fields that determine when a task fires. */
const firing = ["schedule", "timezone", "dst_overlap"] as const

const nextFireOf = Effect.fnUntraced(function* (
  {
    dst_overlap,
    firing_options,
    schedule,
    timezone
  }: Pick<ScheduledRow, (typeof firing)[number] | "firing_options">,
  after: Date,
  calendar_days: ReadonlySet<string> | undefined
) {
  if (schedule === null) return null
  const rule = { ...firing_options, dst_overlap, calendar_days }
  const next = yield* runInSlices(nextSlotInSteps(schedule, TimeZone.make(timezone), after, rule))
  return next === null ? null : new Date(next)
})

const calendarOf = ({ firing_options }: Pick<ScheduledRow, "firing_options">) =>
  firing_options?.excluded_calendar?.url

const isGiven = (value: object | null | undefined) => value !== undefined && value !== null

const isBelowMinute = (every: string | null | undefined) =>
  every != null && Number(parseIntervalSeconds(every)) < 60

/**
 * Returns whether a schedule counts as one with seconds. `second_precision_tasks` in
 * `countedLimits` has the same condition in SQL.
 */
const isPrecise = ({
  firing_options,
  schedule
}: Pick<ScheduledRow, "firing_options" | "schedule">) =>
  firing_options?.precision === "second" ||
  (schedule !== null && (intervalOf(schedule)?.everyMs ?? Infinity) < 60_000)

/** Checks fields that depend on each other, after a change that may contain only one of them. */
const checkFiring = (
  { firing_options, schedule }: Pick<ScheduledRow, "firing_options" | "schedule">,
  isRequired: boolean
) => {
  const { ends_at, precision, starts_at } = firing_options ?? {}
  const bounds =
    starts_at === undefined || ends_at === undefined || Date.parse(starts_at) < Date.parse(ends_at)
      ? Effect.void
      : invalid("ends_at", "must be after starts_at")
  if (schedule === null && isRequired) {
    return Effect.fail(
      ValidationFailed.at(
        missingTimingProblem.path,
        missingTimingProblem.code,
        missingTimingProblem.problem
      )
    )
  }
  return schedule === null ? bounds : Effect.andThen(checkPrecision(schedule, precision), bounds)
}

/**
 * Fails if a cron expression has seconds but no `precision`. The option is required, because cron
 * implementations disagree on what a sixth field means.
 */
export const checkPrecision = (schedule: string, precision: Precision | undefined) => {
  if (intervalOf(schedule) !== undefined) return Effect.void
  const problem = precisionProblem(Schedule.make(schedule), precision)
  return problem === undefined ? Effect.void : invalid("schedule", `is not valid: ${problem}`)
}

const invalid = (field: string, problem: string) =>
  Effect.fail(ValidationFailed.at([field], "invalid", problem))
