import type { TimingFields } from "@scheduling/domain/schedules/Timing"
import { formatInterval, intervalParts } from "@scheduling/schedules/Interval"

// The column `schedule` contains either a cron expression or an interval as text, so that
// everything that computes slots handles both in the same way. The API has a separate field for
// each.

/** Returns a response's fields for the column `schedule`. */
export const shownTiming = (schedule: string | null) => {
  const interval = schedule === null ? undefined : intervalParts(schedule)
  return interval === undefined
    ? { schedule, every: null, anchor: null }
    : { schedule: null, ...interval }
}

/**
 * Returns a definition or a change with its timing in the column `schedule`. Giving a schedule
 * removes the interval, and giving an interval removes the schedule.
 */
export const withTimingColumn = <Given extends TimingFields>(
  given: Given,
  before: { readonly schedule: string | null } = { schedule: null }
): Omit<Given, "every" | "anchor"> => {
  const { anchor, every, schedule, ...others } = given
  const isUnchanged = anchor === undefined && every === undefined && schedule === undefined
  if (isUnchanged) return others as Omit<Given, "every" | "anchor">
  const was = shownTiming(before.schedule)
  const isReplaced = every === undefined && schedule !== undefined && schedule !== null
  const interval = isReplaced ? null : every === undefined ? was.every : every
  const expression = schedule === undefined ? was.schedule : schedule
  const column =
    interval === null
      ? expression
      : formatInterval({ every: interval, anchor: anchor === undefined ? was.anchor : anchor })
  return { ...others, schedule: column } as unknown as Omit<Given, "every" | "anchor">
}
