import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { intervalOf } from "@scheduling/schedules/Interval"
import { hasSeconds } from "@scheduling/schedules/parseSchedule"
import { visitFirings } from "@scheduling/schedules/visitFirings"
import { offsetPeriodAt } from "@scheduling/schedules/ZoneClock"
import type { ForecastRange } from "@scheduling/domain/forecast/Forecast"
import { dayMs } from "../../core/index.ts"
import type { SlotTiming } from "./ForecastRepo.ts"

/**
 * The length of the ranges that are searched one after the other. Even a schedule with seconds has
 * at most 4,320 slots in each.
 */
const stepMs = dayMs / 4

/**
 * Visits the slots of a range in order. Returns the number of visited slots, including slots on
 * excluded days. It yields after every few thousand slots, so that other work can run.
 */
export function* visitSlots(
  { bounds, calendar_days, dst_overlap, schedule, timezone }: SlotTiming,
  { from, to }: ForecastRange,
  visit: (at: number) => void
): Generator<void, number> {
  const { ends_at, excluded_days, starts_at }: FiringOptions = JSON.parse(bounds)
  const first = Math.max(from, starts_at === undefined ? from : Date.parse(starts_at))
  const end = Math.min(to, ends_at === undefined ? to : Date.parse(ends_at) + 1)
  const excluded = new Set(excluded_days?.map((day) => Date.parse(day) / dayMs))
  const isExcluded = (at: number) => {
    const day = Math.floor((at + offsetPeriodAt(timezone, at).offset) / dayMs)
    return excluded.has(day) || calendar_days?.has(day) === true
  }
  const excludesSome = excluded.size > 0 || calendar_days !== undefined
  let looks = 0
  const visitFiring = (at: number) => {
    looks++
    if (!excludesSome || !isExcluded(at)) visit(at)
  }
  const isPrecise = hasSeconds(schedule) || intervalOf(schedule) !== undefined
  const longest = isPrecise ? stepMs : Infinity
  for (let start = first; start < end; start += longest) {
    const stop = Math.min(start + longest, end)
    visitFirings(schedule, timezone, start, stop, { dst_overlap }, visitFiring)
    yield
  }
  return looks
}
