import { Result } from "effect"
import { parseSchedule } from "./ScheduleParser.ts"

/**
 * The least time between two fires of a schedule on one day or around midnight, as if all its days
 * followed one another, apart from clock changes. A schedule that is not valid has none.
 */
export const shortestGapSeconds = (schedule: string): number => {
  const parsed = parseSchedule(schedule)
  if (Result.isFailure(parsed)) return Infinity
  const minutes = matching(parsed.success.minutes)
  const ofDay = matching(parsed.success.hours).flatMap((hour) =>
    minutes.map((minute) => 60 * hour + minute)
  )
  const [first = 0] = ofDay
  const gaps = ofDay.map((minute, index) => (ofDay[index + 1] ?? first + minutesOfDay) - minute)
  return 60 * Math.min(...gaps)
}

const minutesOfDay = 24 * 60

const matching = (table: Uint8Array): ReadonlyArray<number> =>
  [...table].flatMap((matches, index) => (matches === 1 ? [index] : []))
