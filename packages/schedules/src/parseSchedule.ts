import { shortestDailyGapSeconds, minGapSeconds } from "./shortestDailyGapSeconds.ts"
import { someDateExists } from "./matchesDate.ts"
import type { ParsedSchedule } from "./ParsedSchedule.ts"
import { type FieldRule, parseField, quoteInput, type ScheduleIssue } from "./parseField.ts"
import { parseSpecialDate, parseSpecialWeekday, type SpecialDay } from "./SpecialDays.ts"

const monthNames = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ")
const weekdayNames = "SUN MON TUE WED THU FRI SAT".split(" ")

const secondRule: FieldRule = { field: "second", min: 0, max: 59, size: 60, names: [] }
const minuteRule: FieldRule = { field: "minute", min: 0, max: 59, size: 60, names: [] }
const hourRule: FieldRule = { field: "hour", min: 0, max: 23, size: 24, names: [] }
const dayRule: FieldRule = {
  field: "day of month",
  min: 1,
  max: 31,
  size: 32,
  names: [],
  special: parseSpecialDate
}
const monthRule: FieldRule = { field: "month", min: 1, max: 12, size: 13, names: monthNames }
const weekdayRule: FieldRule = {
  field: "day of week",
  min: 0,
  max: 7,
  size: 7,
  names: weekdayNames,
  isWeek: true,
  special: parseSpecialWeekday
}

const fiveFields = "5 fields (minute hour day-of-month month day-of-week)"

/** Creates the error message for a schedule with too many fields. */
export const tooManyFieldsMessage = (count: number, why: string): string =>
  `expected ${fiveFields}, got ${count}: ${why}`

export const hasSeconds = (expression: string): boolean => fieldsOf(expression).length === 6

const fieldsOf = (expression: string): ReadonlyArray<string> =>
  expression === "" ? [] : expression.split(" ")

/**
 * The longest useful expression lists every value of every field: 356 characters, 391 with seconds.
 */
const maxLength = 400

const nicknames: ReadonlyMap<string, string> = new Map([
  ["@hourly", "0 * * * *"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@weekly", "0 0 * * 0"],
  ["@monthly", "0 0 1 * *"],
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"]
])

/**
 * The maximum length before whitespace is collapsed, because collapsing a megabyte would take 80
 * ms.
 */
const maxWritten = 1_000

export const normalizeSchedule = (text: string): string =>
  text.length > maxWritten ? text : text.trim().split(/\s+/).join(" ")

/** The parsed schedule, or all problems with it. */
export type ScheduleParseResult =
  | { readonly ok: true; readonly schedule: ParsedSchedule }
  | { readonly ok: false; readonly issues: ReadonlyArray<ScheduleIssue> }

/**
 * Parses a crontab expression of five fields, or of six if the first is a field of seconds. Where
 * cron implementations differ, these rules apply:
 *
 * - A list item is `*`, a value, a range `a-b`, or one of them with a step `/n`; `a/n` runs from
 *   `a` to the end of the field. Names take any case and work in ranges.
 * - Sunday is 0, 7 and SUN. At the end of a range it is the last day (`FRI-SUN`), elsewhere the
 *   first (`SUN-TUE`).
 * - Other ranges that run backwards (`22-2`) are rejected, as crontab does. The message shows the
 *   list that means the same.
 * - If day of month and day of week are both restricted, a day needs to match only one of them. As
 *   in Vixie cron, a field that starts with `*` counts as unrestricted, even with a step, and then
 *   both must match: "every second day" and MON are the Mondays with an odd date.
 * - `L` is the last day of the month, `L-3` three days before it, `15W` the day from Monday to
 *   Friday that is nearest to the 15th in its month, and `LW` the last such day. `FRI#2` is the
 *   second Friday of the month and `FRIL` the last. They are allowed in lists, but not in ranges.
 * - `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly` and `@annually` are names of
 *   expressions. `?` and a field of years are rejected.
 * - With seconds, firings that are less than 5 s apart are rejected.
 * - Dates that do not exist (`0 0 31 2 *`) are rejected, so every schedule has a next firing.
 */
export const parseSchedule = (text: string): ScheduleParseResult => {
  const written = normalizeSchedule(text)
  if (written.length > maxLength) {
    return refuse(`expected at most ${maxLength} characters, got ${written.length}`)
  }
  const expression = nicknames.get(written.toLowerCase()) ?? written
  const fields = fieldsOf(expression)
  const [second, ...dayFields] = fields.length === 6 ? fields : ["0", ...fields]
  const [minute, hour, day, month, weekday] = dayFields
  if (expression.startsWith("@")) {
    return refuse(nicknameMessage(expression))
  }
  const zone = /^(?:CRON_)?TZ=(\S+)/.exec(expression)?.[1]
  if (zone !== undefined) {
    return refuse(`the time zone is not part of it. Use the field timezone: ${quoteInput(zone)}`)
  }
  if (
    second === undefined ||
    minute === undefined ||
    hour === undefined ||
    day === undefined ||
    month === undefined ||
    weekday === undefined ||
    dayFields.length > 5
  ) {
    return refuse(
      fields.length > 5
        ? tooManyFieldsMessage(fields.length, "years are not supported")
        : `expected ${fiveFields}, got ${fields.length}`
    )
  }

  const issues: Array<ScheduleIssue> = []
  const seconds = parseField(secondRule, second, issues)
  const minutes = parseField(minuteRule, minute, issues)
  const hours = parseField(hourRule, hour, issues)
  const specialDates: Array<SpecialDay> = []
  const specialWeekdays: Array<SpecialDay> = []
  const daysOfMonth = parseField(dayRule, day, issues, specialDates)
  const months = parseField(monthRule, month, issues)
  const weekdays = parseField(weekdayRule, weekday, issues, specialWeekdays)
  const eitherDay = !day.startsWith("*") && !weekday.startsWith("*")
  const days = { daysOfMonth, eitherDay, months, specialDates, specialWeekdays, weekdays }
  if (issues.length === 0 && !someDateExists(days)) {
    const both = specialDates.length + specialWeekdays.length > 0 && weekday !== "*"
    const message =
      `${quoteInput(day)} never occurs in month ${quoteInput(month)}` +
      (both ? ` on day of week ${quoteInput(weekday)}` : "")
    issues.push({ field: "day of month", message: `day of month: ${message}` })
  }
  if (issues.length > 0) return { ok: false, issues }

  const gap = shortestDailyGapSeconds({ seconds, minutes, hours })
  if (gap < minGapSeconds) {
    const message = `${quoteInput(second)} fires again after ${gap} s; firings must be at least ${minGapSeconds} s apart`
    return { ok: false, issues: [{ field: "second", message: `second: ${message}` }] }
  }
  return {
    ok: true,
    schedule: {
      seconds,
      minutes,
      hours,
      ...days,
      byElapsedTime: minute.startsWith("*") || hour.startsWith("*"),
      everyHour: hours.every((matches) => matches === 1)
    }
  }
}

const refuse = (message: string): ScheduleParseResult => ({
  ok: false,
  issues: [{ field: "schedule", message }]
})

const nicknameMessage = (expression: string): string =>
  /^@every /i.test(expression)
    ? `an interval is not a cron expression. Use the field every, such as "every": "90m"`
    : `${quoteInput(expression)} is not one of ${[...nicknames.keys()].join(", ")}`
