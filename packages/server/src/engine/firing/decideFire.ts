import type { MissedSlots } from "@scheduling/domain/cron/ScheduleOptions"
import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import type { DstOverlap } from "@scheduling/domain/schedules/Schedule"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { isOnExcludedDay, latestSlot, nextSlot, type SlotRule } from "@scheduling/schedules/slots"

export interface DueTask {
  readonly id: string
  readonly workspace_id: string
  readonly kind: ExecutionKind
  readonly schedule: string
  readonly timezone: string
  readonly missed: MissedSlots
  readonly dst_overlap: DstOverlap
  readonly firing_options: FiringOptions | null
  readonly next_fire_ms: number
  readonly now_ms: number
  readonly lane: string
  readonly share: number
  readonly target: string | null
  readonly on_worker: boolean
  readonly queue_id: string | null
  readonly in_flow: boolean
  readonly priority: number
}

export type TaskTiming = Pick<
  DueTask,
  "schedule" | "timezone" | "missed" | "dst_overlap" | "firing_options" | "next_fire_ms" | "now_ms"
>

export interface FireDecision {
  /** The slot to run. Null if the slot was missed and is skipped. */
  readonly slot_ms: number | null
  /** The last slot that was handled. */
  readonly fired_until_ms: number
  /** The next slot. Null if no slot is left. */
  readonly next_fire_ms: number | null
}

/**
 * The age at which a slot counts as missed. Nodes fire slots ahead of time, so a slot this old was
 * missed because no node was running.
 */
export const missedAfterMs = 60_000

/**
 * The maximum age of slots that `all` catches up on one by one. Older slots do not get a run each.
 */
const longestCatchUpMs = 86_400_000

/**
 * Decides which slot of a due task gets a run now, and when the task fires next. If several slots
 * have passed, `missed` decides. `all` runs the first of them now; the task then fires again
 * immediately for the next one. `once` and `skip` can run only the latest slot: `once` always runs
 * it, in place of all missed slots, and `skip` runs it only if it is recent.
 */
export const decideFire = (task: TaskTiming, calendar_days?: ReadonlySet<string>): FireDecision => {
  const { schedule } = task
  const timezone = TimeZone.make(task.timezone)
  const rule = { ...task.firing_options, dst_overlap: task.dst_overlap, calendar_days }
  const next = nextSlot(schedule, timezone, task.next_fire_ms, rule)
  if (next === null || next > task.now_ms) {
    return {
      // The calendar may have changed since the slot was chosen, so that it now excludes the day.
      slot_ms: isOnExcludedDay(task.next_fire_ms, timezone, rule)
        ? null
        : slotToRun(task, task.next_fire_ms),
      fired_until_ms: task.next_fire_ms,
      next_fire_ms: next
    }
  }
  const first = task.missed === "all" ? firstToCatchUp(task, rule) : null
  if (first !== null) {
    return {
      slot_ms: first,
      fired_until_ms: first,
      next_fire_ms: nextSlot(schedule, timezone, first, rule)
    }
  }
  const latest = latestSlot(schedule, timezone, task.now_ms, next, rule) ?? next
  return {
    slot_ms: slotToRun(task, latest),
    fired_until_ms: latest,
    next_fire_ms: nextSlot(schedule, timezone, task.now_ms, rule)
  }
}

/**
 * Returns the first missed slot of the last 24 hours. Null if all missed slots are older. In that
 * case, one run of the latest slot stands for all of them.
 */
const firstToCatchUp = (task: TaskTiming, rule: SlotRule): number | null => {
  const timezone = TimeZone.make(task.timezone)
  const earliest = task.now_ms - longestCatchUpMs
  if (task.next_fire_ms >= earliest && !isOnExcludedDay(task.next_fire_ms, timezone, rule)) {
    return task.next_fire_ms
  }
  const after = Math.max(task.next_fire_ms, earliest - 1)
  const first = nextSlot(task.schedule, timezone, after, rule)
  return first !== null && first <= task.now_ms ? first : null
}

const slotToRun = (task: TaskTiming, slotMs: number): number | null =>
  task.missed !== "skip" || slotMs > task.now_ms - missedAfterMs ? slotMs : null
