import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { visitFires } from "@scheduling/domain/schedules/visitFires"
import { stretchAt } from "@scheduling/domain/schedules/ZoneClock"
import type { ForecastRange } from "@scheduling/domain/forecast/Forecast"
import { dayMs } from "../platform/millis.ts"
import type { Rhythm } from "./ForecastRepo.ts"

/** Visits the slots of a range in order. */
export const visitRhythm = (
  { bounds, calendar_days, dst_overlap, schedule, timezone }: Rhythm,
  { from, to }: ForecastRange,
  visit: (at: number) => void
): void => {
  const { ends_at, excluded_days, starts_at }: FiringOptions = JSON.parse(bounds)
  const first = Math.max(from, starts_at === undefined ? from : Date.parse(starts_at))
  const end = Math.min(to, ends_at === undefined ? to : Date.parse(ends_at) + 1)
  const excluded = new Set(excluded_days?.map((day) => Date.parse(day) / dayMs))
  const isExcluded = (at: number) => {
    const day = Math.floor((at + stretchAt(timezone, at).offset) / dayMs)
    return excluded.has(day) || calendar_days?.has(day) === true
  }
  const excludesSome = excluded.size > 0 || calendar_days !== undefined
  visitFires(
    schedule,
    timezone,
    first,
    end,
    { dst_overlap },
    excludesSome ? (at) => !isExcluded(at) && visit(at) : visit
  )
}
