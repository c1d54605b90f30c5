import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import type { DstOverlap } from "@scheduling/domain/schedules/Schedule"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { isExcluded, latestSlot, nextSlot } from "@scheduling/schedules/slots"

export interface DueTask {
  readonly id: string
  readonly workspace_id: string
  readonly kind: ExecutionKind
  readonly schedule: string
  readonly timezone: string
  readonly missed: "skip" | "once"
  readonly dst_overlap: DstOverlap
  readonly firing_options: FiringOptions | null
  readonly next_fire_ms: number
  readonly now_ms: number
  readonly lane: string
  readonly share: number
  readonly target: string | null
  readonly on_worker: boolean
  readonly queue_id: string | null
}

export type Timing = Pick<
  DueTask,
  "schedule" | "timezone" | "missed" | "dst_overlap" | "firing_options" | "next_fire_ms" | "now_ms"
>

export interface Fire {
  /** The slot to run. Null if the slot was missed and is skipped. */
  readonly slot_ms: number | null
  /** The last slot that was handled. */
  readonly fired_until_ms: number
  /** Null if no slot is left. */
  readonly next_fire_ms: number | null
}

/** Nodes fire seconds ahead, so a slot this old was missed because no node was running. */
const missedAfterMs = 60_000

/**
 * Decides which slot a due task runs now, and when it fires next. If several slots have passed,
 * only the latest can run. With `once`, it makes up for all of them. With `skip`, it runs only if
 * it is recent.
 */
export const decideFire = (task: Timing, calendar_days?: ReadonlySet<string>): Fire => {
  const { schedule } = task
  const timezone = TimeZone.make(task.timezone)
  const rule = { ...task.firing_options, dst_overlap: task.dst_overlap, calendar_days }
  const next = nextSlot(schedule, timezone, task.next_fire_ms, rule)
  if (next === null || next > task.now_ms) {
    return {
      // The calendar may have excluded the day since the slot was chosen.
      slot_ms: isExcluded(task.next_fire_ms, timezone, rule)
        ? null
        : slotToRun(task, task.next_fire_ms),
      fired_until_ms: task.next_fire_ms,
      next_fire_ms: next
    }
  }
  const latest = latestSlot(schedule, timezone, task.now_ms, next, rule) ?? next
  return {
    slot_ms: slotToRun(task, latest),
    fired_until_ms: latest,
    next_fire_ms: nextSlot(schedule, timezone, task.now_ms, rule)
  }
}

const slotToRun = (task: Timing, slotMs: number): number | null =>
  task.missed === "once" || slotMs > task.now_ms - missedAfterMs ? slotMs : null
