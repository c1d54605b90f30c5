import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { type DstOverlap, Schedule } from "@scheduling/domain/cron/Schedule"
import { nextSlot } from "@scheduling/domain/cron/slots"
import { TimeZone } from "@scheduling/domain/cron/TimeZone"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { Limits } from "../limits/Limits.ts"
import { Outbox } from "../outbox/Outbox.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { StoreClock } from "../sql/StoreClock.ts"
import { slotOptionsOf } from "./firingOptions.ts"
import type { TaskRef, TaskRow, TasksRepo } from "./TasksRepo.ts"

/** A row of `tasks` that may have a schedule. */
export interface ScheduledRow extends TaskRow {
  readonly status: TaskStatus
  readonly schedule: string | null
  readonly timezone: string
  readonly dst_overlap: DstOverlap
  readonly firing_options: FiringOptions | null
  readonly paused_reason: string | null
  readonly next_fire_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/**
 * What cron tasks and chains do with their schedules. The next fire is computed by the clock of the
 * store, here and in the runner, while the row is locked. Call these in the transaction that has
 * locked it.
 */
export const schedulesOf = Effect.fnUntraced(function* <Row extends ScheduledRow>(
  repo: Pick<TasksRepo<Row>, "insert" | "update">
) {
  const now = Effect.orDie((yield* StoreClock)(yield* SqlClient.SqlClient))
  const limits = yield* Limits
  const outbox = yield* Outbox
  const queue = yield* RunQueue

  const wake = ({ next_fire_at }: Row) =>
    next_fire_at === null ? Effect.void : queue.wake(next_fire_at)

  const allowSchedule = ({ schedule, workspace_id }: Row) =>
    schedule === null ? Effect.void : limits.allowSchedule(workspace_id, schedule)

  /** None of its runs starts from now on, and whatever is the matter with it is nobody's any more. */
  const stop = Effect.fnUntraced(function* ({ id, workspace_id }: TaskRef) {
    yield* queue.stop({ workspace_id, task_id: id })
    yield* outbox.forget({ workspace_id, subject_id: id })
  })

  /** What has started goes on. The start guard cancels scheduled runs of a paused task. */
  const letFinish = Effect.fnUntraced(function* ({ id, workspace_id }: TaskRef) {
    yield* queue.withdrawSlots({ workspace_id, task_id: id })
    yield* outbox.forget({ workspace_id, subject_id: id })
  })

  /**
   * Lets the task fire by its schedule as it is now. Slots that have fired ahead are withdrawn,
   * unless their runs have started.
   */
  const fireAgain = Effect.fnUntraced(function* (task: Row) {
    const after = yield* queue.withdrawSlots({ workspace_id: task.workspace_id, task_id: task.id })
    const next_fire_at = nextFireOf(task, after)
    const fires: Row = {
      ...task,
      status: "active",
      paused_reason: null,
      next_fire_at,
      updated_at: yield* now
    }
    yield* repo.update(fires)
    yield* wake(fires)
    return fires
  })

  return {
    stop,

    insert: Effect.fnUntraced(function* (task: Row) {
      yield* checkWindow(task)
      yield* allowSchedule(task)
      const row: Row = { ...task, next_fire_at: nextFireOf(task, task.created_at) }
      yield* repo.insert(row)
      yield* wake(row)
      return row
    }),

    update: Effect.fnUntraced(function* (task: Row, changed: Row) {
      yield* checkWindow(changed)
      if (changed.schedule !== task.schedule) yield* allowSchedule(changed)
      const firesOtherwise =
        firing.some((field) => changed[field] !== task[field]) ||
        !isDeepStrictEqual(slotOptionsOf(changed), slotOptionsOf(task))
      if (firesOtherwise && task.status === "active") return yield* fireAgain(changed)
      const row: Row = { ...changed, updated_at: yield* now }
      yield* repo.update(row)
      return row
    }),

    pause: Effect.fnUntraced(function* (task: Row, paused_reason: string | null = null) {
      if (task.status === "paused") return task
      const paused: Row = {
        ...task,
        status: "paused",
        paused_reason,
        next_fire_at: null,
        updated_at: yield* now
      }
      yield* repo.update(paused)
      yield* task.firing_options?.on_pause === "finish" ? letFinish(paused) : stop(paused)
      return paused
    }),

    resume: Effect.fnUntraced(function* (task: Row) {
      if (task.status === "active") return task
      yield* allowSchedule(task)
      yield* limits.allowResume(task.workspace_id, task.id)
      return yield* fireAgain(task)
    })
  }
})

/** The fields that decide when a task fires. */
const firing = ["schedule", "timezone", "dst_overlap"] as const

const nextFireOf = (
  {
    dst_overlap,
    firing_options,
    schedule,
    timezone
  }: Pick<ScheduledRow, (typeof firing)[number] | "firing_options">,
  after: Date
): Date | null => {
  if (schedule === null) return null
  const rule = { ...firing_options, dst_overlap }
  const next = nextSlot(Schedule.make(schedule), TimeZone.make(timezone), after, rule)
  return next === null ? null : new Date(next)
}

/** Here, because a change may give one of the two only. */
const checkWindow = ({ firing_options }: Pick<ScheduledRow, "firing_options">) => {
  const { ends_at, starts_at } = firing_options ?? {}
  return starts_at === undefined ||
    ends_at === undefined ||
    Date.parse(starts_at) < Date.parse(ends_at)
    ? Effect.void
    : Effect.fail(
        new ValidationFailed({
          issues: [{ path: ["ends_at"], message: "must be after starts_at" }]
        })
      )
}
