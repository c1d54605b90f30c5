import { dropsRepeatsOf, type FiringOptions, standsForSkipped } from "./Firings.ts"
import { intervalAfter, intervalOf } from "./Interval.ts"
import { parsedOf } from "./readSchedule.ts"
import { visitMatches } from "./ScheduleCalendar.ts"
import { stretchAt } from "./ZoneClock.ts"

const secondMillis = 1_000

/**
 * Visits each firing from `from` (inclusive) to `to` (exclusive), in order. Equivalent to repeated
 * calls of `nextFiring`, but up to twenty times as fast.
 */
export const visitFirings = (
  schedule: string,
  timezone: string,
  from: number,
  to: number,
  { dst_overlap = "first" }: FiringOptions,
  visit: (at: number) => void
): void => {
  const interval = intervalOf(schedule)
  if (interval !== undefined) {
    for (let at = intervalAfter(interval, from - 1); at < to; at += interval.everyMs) visit(at)
    return
  }
  const parsed = parsedOf(schedule)
  const dropsRepeats = dropsRepeatsOf(parsed, dst_overlap)
  for (let start = from; start < to;) {
    const stretch = stretchAt(timezone, start)
    const { offset } = stretch
    const end = Math.min(stretch.end, to)
    let first = dropsRepeats ? Math.max(start, stretch.repeatsUntil) : start
    if (start === stretch.start && standsForSkipped(parsed, stretch)) {
      visit(start)
      first = start + 1
    }
    const firstSecond = Math.ceil((first + offset) / secondMillis)
    const lastSecond = Math.ceil((end + offset) / secondMillis) - 1
    visitMatches(parsed, firstSecond, lastSecond, (second) => visit(second * secondMillis - offset))
    start = end
  }
}
