// When a schedule fires. A schedule names local times: minutes, or seconds if it has a seconds
// field. Between two clock changes, each local time is one instant. At a clock change these rules
// apply:
//
// Clocks spring forward: the skipped times fire once, together, at the first instant after the gap,
// unless the schedule covers every hour of the day. So "30 2 * * *" and "*/15 2 * * *" fire at
// 03:00 that day, and "0 2,3 * * *" fires at 03:00 once. A schedule of every hour, such as "*/15 *
// * * *" or "30 * * * *", neither loses nor gains a firing, because its instants simply continue.
//
// Clocks fall back: local times occur twice. A schedule whose minute or hour field starts with "*"
// runs by elapsed time, as in Vixie cron: it fires both times, so "*/15 * * * *" never pauses for
// an hour. Any other schedule names times of the day, and `dst_overlap` decides: "first" fires only
// the first time, "both" fires both times.
//
// An interval counts elapsed time from its anchor, so clock changes do not affect it: see
// Interval.ts.
//
// ADR 7 says why this is not Effect's Cron.

import { nextIntervalFiring, latestIntervalFiring, intervalOf } from "./Interval.ts"
import { nextMatch, latestMatch } from "./ScheduleCalendar.ts"
import type { ParsedSchedule } from "./ParsedSchedule.ts"
import { parseValidSchedule } from "./parseScheduleCached.ts"
import { type OffsetPeriod, offsetPeriodAt } from "./ZoneClock.ts"

/** Decides whether a local time that occurs twice fires once or twice. */
export type DstOverlap = "first" | "both"

/**
 * The effect of a clock change on a firing.
 *
 * - `moved`: clocks skipped a local time of the schedule. This firing replaces it.
 * - `doubled`: this local time has fired once already, before clocks fell back.
 * - `dropped`: as `doubled`, but `dst_overlap` is "first" and so this is **not** a firing.
 */
export type ClockChange = "moved" | "doubled" | "dropped"

export interface PreviewedFiring {
  /** The time in UTC, such as `2026-10-25T00:30:00.000Z`. */
  readonly at: string
  /** The time in the schedule's time zone, such as `2026-10-25T02:30:00+02:00`. */
  readonly local: string
  readonly clock_change: ClockChange | null
  /** Whether the day is excluded, so that the schedule does not fire. */
  readonly excluded: boolean
}

export interface DstOptions {
  /** Defaults to "first". */
  readonly dst_overlap?: DstOverlap
}

/**
 * Returns the first firing strictly after `after`, in milliseconds since the epoch. There always is
 * one. Like all functions of this module, it throws a `RangeError` for a schedule that
 * `parseSchedule` rejects.
 */
export const nextFiring = (
  schedule: string,
  timezone: string,
  after: Date | number,
  options?: DstOptions
): number => {
  const interval = intervalOf(schedule)
  return interval === undefined
    ? firingAfter(
        parseValidSchedule(schedule),
        timezone,
        Number(after),
        options?.dst_overlap ?? "first"
      )
    : nextIntervalFiring(interval, Number(after))
}

/**
 * Returns the last firing between `lowerBound` and `now`, both inclusive, if any. Searches
 * backwards from `now`, so the cost does not depend on the number of firings in between.
 */
export const latestFiring = (
  schedule: string,
  timezone: string,
  now: Date | number,
  lowerBound: Date | number,
  options?: DstOptions
): number | undefined => {
  const interval = intervalOf(schedule)
  if (interval !== undefined) {
    const at = latestIntervalFiring(interval, Number(now))
    return at >= Number(lowerBound) ? at : undefined
  }
  const parsed = parseValidSchedule(schedule)
  const dropsRepeats = skipsRepeatedTimes(parsed, options?.dst_overlap ?? "first")
  const earliest = Number(lowerBound)
  let last = Number(now)
  while (last >= earliest) {
    const period = offsetPeriodAt(timezone, last)
    const first = dropsRepeats ? Math.max(period.start, period.repeatsUntil) : period.start
    const second = Math.floor((last + period.offset) / secondMillis)
    const at = latestMatch(parsed, second) * secondMillis - period.offset
    if (at >= first) return at >= earliest ? at : undefined
    if (period.start >= earliest && firesForSkippedTime(parsed, period)) return period.start
    last = period.start - 1
  }
  return undefined
}

/**
 * Returns the next `count` firings after `from`. Firings that `dst_overlap` "first" drops are
 * included, marked `dropped` and not counted.
 */
export const previewFirings = (
  schedule: string,
  timezone: string,
  from: Date | number,
  count: number,
  options?: DstOptions
): ReadonlyArray<PreviewedFiring> => {
  const interval = intervalOf(schedule)
  if (interval !== undefined) {
    return Array.from({ length: count }, (_, index) => {
      const at = nextIntervalFiring(interval, Number(from)) + index * interval.everyMs
      return firingAt(at, offsetPeriodAt(timezone, at).offset, null)
    })
  }
  const parsed = parseValidSchedule(schedule)
  const dropsRepeats = skipsRepeatedTimes(parsed, options?.dst_overlap ?? "first")
  const listed: Array<PreviewedFiring> = []
  let at = Number(from)
  for (let counted = 0; counted < count;) {
    at = firingAfter(parsed, timezone, at, "both")
    const period = offsetPeriodAt(timezone, at)
    const repeated = at < period.repeatsUntil
    const moved = at === period.start && firesForSkippedTime(parsed, period)
    const change = repeated ? (dropsRepeats ? "dropped" : "doubled") : moved ? "moved" : null
    listed.push(firingAt(at, period.offset, change))
    if (!(repeated && dropsRepeats)) counted++
  }
  return listed
}

const firingAt = (
  at: number,
  offset: number,
  clock_change: ClockChange | null
): PreviewedFiring => ({
  at: new Date(at).toISOString(),
  local: formatLocal(at, offset),
  clock_change,
  excluded: false
})

const secondMillis = 1_000
const minuteMillis = 60_000

/**
 * Longer than the largest offset plus the largest clock change: no zone is 15 hours from UTC, and
 * no clock change (Samoa 2011) was longer than a day.
 */
const marginMillis = 3 * 86_400_000

const firingAfter = (
  parsed: ParsedSchedule,
  timezone: string,
  after: number,
  overlap: DstOverlap
): number => {
  const dropsRepeats = skipsRepeatedTimes(parsed, overlap)
  let from = Math.floor(after) + 1
  for (;;) {
    const period = offsetPeriodAt(timezone, from)
    if (from === period.start && firesForSkippedTime(parsed, period)) return from
    const first = dropsRepeats ? Math.max(from, period.repeatsUntil) : from
    const second = Math.ceil((first + period.offset) / secondMillis)
    const at = nextMatch(parsed, second) * secondMillis - period.offset
    if (at < period.end) return at
    // A search for a time years ahead can skip most clock changes in between. Only a change near
    // `from` matters: where clocks fall back, local times before `from` occur again.
    const near = period.end - from < marginMillis
    from = near ? period.end : Math.max(period.end, at - marginMillis)
  }
}

export const skipsRepeatedTimes = (parsed: ParsedSchedule, overlap: DstOverlap): boolean =>
  overlap === "first" && !parsed.byElapsedTime

/**
 * Returns true if the schedule fires at the start of the period because clocks skipped one of its
 * times.
 */
export const firesForSkippedTime = (parsed: ParsedSchedule, period: OffsetPeriod): boolean => {
  if (period.skipped === 0 || parsed.everyHour) return false
  const gapEnd = (period.start + period.offset) / secondMillis
  const gapStart = gapEnd - period.skipped / secondMillis
  return nextMatch(parsed, gapStart) < gapEnd
}

const formatLocal = (at: number, offset: number): string => {
  const minutes = Math.abs(offset) / minuteMillis
  const pad = (part: number): string => String(Math.floor(part)).padStart(2, "0")
  const sign = offset < 0 ? "-" : "+"
  const local = new Date(at + offset).toISOString().slice(0, -5)
  return `${local}${sign}${pad(minutes / 60)}:${pad(minutes % 60)}`
}
