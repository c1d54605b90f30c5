import { dropsRepeatsOf, type FireOptions, standsForSkipped } from "./fires.ts"
import { parsedOf } from "./readSchedule.ts"
import { visitSlots } from "./ScheduleCalendar.ts"
import { stretchAt } from "./ZoneClock.ts"

const secondMillis = 1_000

/**
 * Visits each fire from `from` until before `to`, in order: the same fires as repeated calls of
 * `nextFire`, up to twenty times as fast.
 */
export const visitFires = (
  schedule: string,
  timezone: string,
  from: number,
  to: number,
  { dst_overlap = "first" }: FireOptions,
  visit: (at: number) => void
): void => {
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
    const firstSlot = Math.ceil((first + offset) / secondMillis)
    const lastSlot = Math.ceil((end + offset) / secondMillis) - 1
    visitSlots(parsed, firstSlot, lastSlot, (slot) => visit(slot * secondMillis - offset))
    start = end
  }
}
