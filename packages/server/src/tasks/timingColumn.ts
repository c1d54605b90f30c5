import type { GivenTiming } from "@scheduling/domain/schedules/Timing"
import { intervalText, writtenInterval } from "@scheduling/schedules/Interval"

// The column `schedule` holds a cron expression or the text of an interval, so that everything which
// computes slots handles both alike. The API has a field for each.

/** The fields of a response for the column. */
export const shownTiming = (schedule: string | null) => {
  const interval = schedule === null ? undefined : writtenInterval(schedule)
  return interval === undefined
    ? { schedule, every: null, anchor: null }
    : { schedule: null, ...interval }
}

/**
 * The column for the fields of a definition or of a change. A schedule removes the interval, and an
 * interval the schedule.
 */
export const withTimingColumn = <Given extends GivenTiming>(
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
      : intervalText({ every: interval, anchor: anchor === undefined ? was.anchor : anchor })
  return { ...others, schedule: column } as unknown as Omit<Given, "every" | "anchor">
}
