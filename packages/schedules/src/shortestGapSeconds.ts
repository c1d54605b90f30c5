import { gapOf } from "./gapOf.ts"
import { parseSchedule } from "./parseSchedule.ts"

/**
 * The least time between two firings in seconds, see `gapOf`. Infinity if the schedule is invalid.
 */
export const shortestGapSeconds = (schedule: string): number => {
  const reading = parseSchedule(schedule)
  return reading.ok ? gapOf(reading.schedule) : Infinity
}
