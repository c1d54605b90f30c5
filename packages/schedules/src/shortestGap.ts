import { gapOf } from "./gapOf.ts"
import { parseSchedule } from "./parseSchedule.ts"

/** The least time between two fires, see `gapOf`. A schedule that is not valid has none. */
export const shortestGapSeconds = (schedule: string): number => {
  const reading = parseSchedule(schedule)
  return reading.ok ? gapOf(reading.schedule) : Infinity
}
