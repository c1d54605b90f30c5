import { shortestDailyGapSeconds } from "./shortestDailyGapSeconds.ts"
import { intervalOf } from "./Interval.ts"
import { parseSchedule } from "./parseSchedule.ts"

/**
 * Returns the shortest interval between two firings in seconds (see `shortestDailyGapSeconds`), or Infinity if the
 * schedule is invalid.
 */
export const shortestGapSeconds = (schedule: string): number => {
  const interval = intervalOf(schedule)
  if (interval !== undefined) return interval.everyMs / 1_000
  const reading = parseSchedule(schedule)
  return reading.ok ? shortestDailyGapSeconds(reading.schedule) : Infinity
}
