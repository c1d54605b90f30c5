// When a cron task fires. A schedule names local times ("slots"); between two clock changes each
// slot is one instant. A slot is a minute, or a second where the schedule has a field of seconds. At
// a clock change these rules hold:
//
// Clocks spring forward: the slots they skip fire once, together, at the first instant after the
// gap, unless the schedule covers every hour of the day. So "30 2 * * *" and "*/15 2 * * *" fire
// at 03:00 that day, and "0 2,3 * * *" fires at 03:00 once. A schedule of every hour, such as
// "*/15 * * * *" or "30 * * * *", loses nothing and gains no fire: its instants just go on.
//
// Clocks fall back: slots come twice. A schedule whose minute or hour field starts with "*" runs
// by elapsed time, as in Vixie cron: every slot fires both times, so "*/15 * * * *" never pauses
// for an hour. Any other schedule names times of the day, and `dst_overlap` decides: "first"
// fires only the first of the two, "both" fires each.
//
// This is not Effect's Cron because that one (4.1.0) moves a skipped 02:30 to 03:30, leaves
// "*/15 * * * *" silent for an hour where clocks fall back, and needs 76 µs per fire in
// Europe/Berlin, where this needs less than 1.

import { Option, Result, Schema, SchemaTransformation } from "effect"
import { Timestamp } from "../shared/Timestamp.ts"
import { slotAtOrAfter, slotAtOrBefore } from "./ScheduleCalendar.ts"
import { leastGapSeconds } from "./gapOf.ts"
import {
  hasSeconds,
  normalizeSchedule,
  type ParsedSchedule,
  parseSchedule,
  tooManyFields
} from "./ScheduleParser.ts"
import type { TimeZone } from "./TimeZone.ts"
import { type Stretch, stretchAt } from "./ZoneClock.ts"

const scheduleOf = (description: string, problems: (text: string) => ReadonlyArray<string>) =>
  Schema.String.annotate({ description, examples: ["*/15 * * * *", "0 9 * * MON-FRI"] }).pipe(
    Schema.decodeTo(
      Schema.String.check(Schema.makeFilter(problems)).pipe(Schema.brand("Schedule")),
      SchemaTransformation.transform({ decode: normalizeSchedule, encode: (text) => text })
    )
  )

const fiveFields =
  "A cron expression with five fields: minute hour day-of-month month day-of-week. The day of " +
  "month may be `L` (the last), `L-3`, `LW` (the last weekday) or `15W` (the weekday nearest to " +
  "the 15th), the day of week `FRI#2` (the second Friday) or `FRIL` (the last). `@hourly`, " +
  "`@daily`, `@weekly`, `@monthly` and `@yearly` are taken too."

/** A cron expression as its author wrote it, with each run of white space reduced to one space. */
export const Schedule = scheduleOf(
  `${fiveFields} With \`precision: "second"\` a sixth may come before them, for seconds; then ` +
    `fires must be at least ${leastGapSeconds} seconds apart.`,
  (text) => scheduleProblems(text)
)
export type Schedule = typeof Schedule.Type

/** What a schedule is told that has seconds and may not. Undefined if there is nothing to tell. */
export const precisionProblem = (
  schedule: Schedule,
  precision: "minute" | "second" | undefined
): string | undefined =>
  precision !== "second" && hasSeconds(schedule)
    ? tooManyFields(6, 'a field of seconds needs `precision: "second"`')
    : undefined

/** A schedule without a field of seconds. */
export const MinuteSchedule = scheduleOf(fiveFields, (text) =>
  hasSeconds(text)
    ? [tooManyFields(6, "seconds and years are not supported")]
    : scheduleProblems(text)
)

export const DstOverlap = Schema.Literals(["first", "both"])
export type DstOverlap = typeof DstOverlap.Type

/**
 * What a clock change did to a fire.
 *
 * - `moved`: clocks skipped a local time that the schedule names. This fire stands for it.
 * - `doubled`: this local time has fired once already, before clocks fell back.
 * - `dropped`: as `doubled`, but `dst_overlap` is "first" and so this is **not** a fire.
 */
export const ClockChange = Schema.Literals(["moved", "doubled", "dropped"])
export type ClockChange = typeof ClockChange.Type

export const PreviewedFire = Schema.Struct({
  at: Timestamp,
  local: Schema.String.annotate({
    description: "The same moment on the clocks of the time zone, with its offset from UTC.",
    examples: ["2026-10-25T02:30:00+02:00"]
  }),
  clock_change: Schema.NullOr(ClockChange),
  excluded: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description: "On an excluded day, so this is not a fire. Absent otherwise."
    })
  )
})
export type PreviewedFire = typeof PreviewedFire.Type

export interface FireOptions {
  /** Default "first". */
  readonly dst_overlap?: DstOverlap
}

/** The first fire strictly after `after`, in milliseconds since the epoch. There is always one. */
export const nextFire = (
  schedule: Schedule,
  timezone: TimeZone,
  after: Date | number,
  options?: FireOptions
): number => fireAfter(parsedOf(schedule), timezone, Number(after), options?.dst_overlap ?? "first")

/**
 * The last fire that is at or before `now` and not before `lowerBound`. It searches backwards from
 * `now`, so it costs as much as `nextFire`, however many fires lie in between.
 */
export const latestAtOrBefore = (
  schedule: Schedule,
  timezone: TimeZone,
  now: Date | number,
  lowerBound: Date | number,
  options?: FireOptions
): Option.Option<number> => {
  const parsed = parsedOf(schedule)
  const dropsRepeats = dropsRepeatsOf(parsed, options?.dst_overlap ?? "first")
  const earliest = Number(lowerBound)
  let last = Number(now)
  while (last >= earliest) {
    const stretch = stretchAt(timezone, last)
    const first = dropsRepeats ? Math.max(stretch.start, stretch.repeatsUntil) : stretch.start
    const second = Math.floor((last + stretch.offset) / secondMillis)
    const fire = slotAtOrBefore(parsed, second) * secondMillis - stretch.offset
    if (fire >= first) return fire >= earliest ? Option.some(fire) : Option.none()
    if (stretch.start >= earliest && standsForSkipped(parsed, stretch)) {
      return Option.some(stretch.start)
    }
    last = stretch.start - 1
  }
  return Option.none()
}

/**
 * The next `count` fires after `from`. Fires that `dst_overlap` "first" drops are listed too,
 * marked `dropped` and not counted.
 */
export const preview = (
  schedule: Schedule,
  timezone: TimeZone,
  from: Date | number,
  count: number,
  options?: FireOptions
): ReadonlyArray<PreviewedFire> => {
  const parsed = parsedOf(schedule)
  const dropsRepeats = dropsRepeatsOf(parsed, options?.dst_overlap ?? "first")
  const listed: Array<PreviewedFire> = []
  let at = Number(from)
  for (let fires = 0; fires < count;) {
    at = fireAfter(parsed, timezone, at, "both")
    const stretch = stretchAt(timezone, at)
    const repeated = at < stretch.repeatsUntil
    const moved = at === stretch.start && standsForSkipped(parsed, stretch)
    listed.push({
      at: new Date(at).toISOString(),
      local: formatLocal(at, stretch.offset),
      clock_change: repeated ? (dropsRepeats ? "dropped" : "doubled") : moved ? "moved" : null
    })
    if (!(repeated && dropsRepeats)) fires++
  }
  return listed
}

const secondMillis = 1_000
const minuteMillis = 60_000

/**
 * More than any offset and clock change together: no zone is 15 hours from UTC, and no clock change
 * (Samoa 2011) was longer than a day.
 */
const marginMillis = 3 * 86_400_000

const fireAfter = (
  parsed: ParsedSchedule,
  timezone: string,
  after: number,
  overlap: DstOverlap
): number => {
  const dropsRepeats = dropsRepeatsOf(parsed, overlap)
  let from = Math.floor(after) + 1
  for (;;) {
    const stretch = stretchAt(timezone, from)
    if (from === stretch.start && standsForSkipped(parsed, stretch)) return from
    const first = dropsRepeats ? Math.max(from, stretch.repeatsUntil) : from
    const second = Math.ceil((first + stretch.offset) / secondMillis)
    const fire = slotAtOrAfter(parsed, second) * secondMillis - stretch.offset
    if (fire < stretch.end) return fire
    // The search for a slot years away can skip the clock changes up to it. Only a near change
    // matters: where clocks fall back, slots from before `from` come again.
    const near = stretch.end - from < marginMillis
    from = near ? stretch.end : Math.max(stretch.end, fire - marginMillis)
  }
}

export const dropsRepeatsOf = (parsed: ParsedSchedule, overlap: DstOverlap): boolean =>
  overlap === "first" && !parsed.byElapsedTime

/** Whether clocks that sprang forward at the start of the stretch skipped a slot that must fire. */
export const standsForSkipped = (parsed: ParsedSchedule, stretch: Stretch): boolean => {
  if (stretch.skipped === 0 || parsed.everyHour) return false
  const gapEnd = (stretch.start + stretch.offset) / secondMillis
  const gapStart = gapEnd - stretch.skipped / secondMillis
  return slotAtOrAfter(parsed, gapStart) < gapEnd
}

const formatLocal = (at: number, offset: number): string => {
  const minutes = Math.abs(offset) / minuteMillis
  const pad = (part: number): string => String(Math.floor(part)).padStart(2, "0")
  const sign = offset < 0 ? "-" : "+"
  const local = new Date(at + offset).toISOString().slice(0, -5)
  return `${local}${sign}${pad(minutes / 60)}:${pad(minutes % 60)}`
}

const maxParsed = 5000

/** A cache: parsing takes about 5 µs, and an entry about 700 bytes. The oldest is dropped first. */
const parsedSchedules = new Map<string, ParsedSchedule>()

const parseCached = (text: string): ReturnType<typeof parseSchedule> => {
  const cached = parsedSchedules.get(text)
  if (cached !== undefined) return Result.succeed(cached)
  return Result.map(parseSchedule(text), (parsed) => remember(text, parsed))
}

const remember = (text: string, parsed: ParsedSchedule): ParsedSchedule => {
  const oldest = parsedSchedules.keys().next()
  if (parsedSchedules.size >= maxParsed && !oldest.done) parsedSchedules.delete(oldest.value)
  parsedSchedules.set(text, parsed)
  return parsed
}

export const parsedOf = (schedule: Schedule): ParsedSchedule =>
  parsedSchedules.get(schedule) ?? Result.getOrThrow(parseCached(schedule))

const scheduleProblems = (text: string): ReadonlyArray<string> =>
  Result.match(parseCached(text), {
    onFailure: (issues) => issues.map((issue) => issue.message),
    onSuccess: () => []
  })
