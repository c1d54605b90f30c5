import { gapOf } from "./gapOf.ts"
import { intervalOf } from "./Interval.ts"
import { parseSchedule } from "./parseSchedule.ts"

/**
 * Returns the shortest interval between two firings in seconds (see `gapOf`), or Infinity if the
 * schedule is invalid.
 */
export const shortestGapSeconds = (schedule: string): number => {
  const interval = intervalOf(schedule)
  if (interval !== undefined) return interval.everyMs / 1_000
  const reading = parseSchedule(schedule)
  return reading.ok ? gapOf(reading.schedule) : Infinity
}
