import { Result } from "effect"
import { someDateExists } from "./matchesDate.ts"
import { parseSpecialDate, parseSpecialWeekday, type SpecialDay } from "./SpecialDays.ts"

export type ScheduleField =
  | "schedule"
  | "minute"
  | "hour"
  | "day of month"
  | "month"
  | "day of week"

/** What is wrong with an expression. `field` is "schedule" if no single field is to blame. */
export interface ScheduleIssue {
  readonly field: ScheduleField
  readonly message: string
}

/** The five fields as tables. A 1 at index n means that n matches. */
export interface ParsedSchedule {
  readonly minutes: Uint8Array
  readonly hours: Uint8Array
  readonly daysOfMonth: Uint8Array
  readonly months: Uint8Array
  readonly weekdays: Uint8Array
  /** What the day of month names beside numbers: `L`, `15W`. */
  readonly specialDates: ReadonlyArray<SpecialDay>
  /** What the day of week names beside numbers: `FRI#2`, `FRIL`. */
  readonly specialWeekdays: ReadonlyArray<SpecialDay>
  /** Day of month and day of week are both restricted, so a day needs to match only one of them. */
  readonly eitherDay: boolean
  /**
   * The minute or the hour field starts with `*`, so the schedule says how often and not at what
   * time.
   */
  readonly byElapsedTime: boolean
  readonly everyHour: boolean
}

interface FieldRule {
  readonly field: ScheduleField
  readonly min: number
  /**
   * The largest value that a user may write. For the day of week that is 7, a second name for
   * Sunday.
   */
  readonly max: number
  /** The number of distinct values, counted from 0. */
  readonly size: number
  /** The names of the values from `min` on. */
  readonly names: ReadonlyArray<string>
  /** Reads items of a form that only this field has. */
  readonly special?: (item: string) => SpecialDay | string | undefined
}

const monthNames = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ")
const weekdayNames = "SUN MON TUE WED THU FRI SAT".split(" ")

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
  special: parseSpecialWeekday
}

const fiveFields = "5 fields (minute hour day-of-month month day-of-week)"

/** The longest useful expression lists every value of every field: 356 characters. */
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

/** The limit including white space: reducing a megabyte of it to one space would take 80 ms. */
const maxWritten = 1_000

export const normalizeSchedule = (text: string): string =>
  text.length > maxWritten ? text : text.trim().split(/\s+/).join(" ")

/**
 * Reads a crontab expression of five fields. Where crons differ, these choices apply:
 *
 * - A list item is `*`, a value, a range `a-b`, or one of them with a step `/n`; `a/n` runs from
 *   `a` to the end of the field. Names take any case and work in ranges.
 * - Sunday is 0, 7 and SUN. At the end of a range it is the last day (`FRI-SUN`), elsewhere the
 *   first (`SUN-TUE`).
 * - Other ranges that run backwards (`22-2`) are refused, as crontab does. The message shows the
 *   list that means the same.
 * - If day of month and day of week are both restricted, a day needs to match only one of them. As
 *   in Vixie cron, a field that starts with `*` counts as unrestricted, even with a step, and then
 *   both must match: "every second day" and MON are the Mondays with an odd date.
 * - `L` is the last day of the month, `L-3` three days before it, `15W` the day from Monday to Friday
 *   that is nearest to the 15th in its month, and `LW` the last such day. `FRI#2` is the second
 *   Friday of the month and `FRIL` the last. They may stand in lists, not in ranges.
 * - `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly` and `@annually` are names of
 *   expressions. A field for seconds and `?` are refused.
 * - Dates that never come (`0 0 31 2 *`) are refused. So every schedule has a next fire.
 */
export const parseSchedule = (
  text: string
): Result.Result<ParsedSchedule, ReadonlyArray<ScheduleIssue>> => {
  const written = normalizeSchedule(text)
  const expression = nicknames.get(written.toLowerCase()) ?? written
  if (expression.length > maxLength) {
    return refuse(`expected at most ${maxLength} characters, got ${expression.length}`)
  }
  const fields = expression === "" ? [] : expression.split(" ")
  const [minute, hour, day, month, weekday] = fields
  if (expression.startsWith("@")) {
    return refuse(nicknameMessage(expression))
  }
  if (
    minute === undefined ||
    hour === undefined ||
    day === undefined ||
    month === undefined ||
    weekday === undefined ||
    fields.length > 5
  ) {
    const seconds = fields.length > 5 ? ": seconds and years are not supported" : ""
    return refuse(`expected ${fiveFields}, got ${fields.length}${seconds}`)
  }

  const issues: Array<ScheduleIssue> = []
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
      `${quote(day)} never comes in month ${quote(month)}` +
      (both ? ` on day of week ${quote(weekday)}` : "")
    issues.push({ field: "day of month", message: `day of month: ${message}` })
  }
  if (issues.length > 0) return Result.fail(issues)

  return Result.succeed({
    minutes,
    hours,
    ...days,
    byElapsedTime: minute.startsWith("*") || hour.startsWith("*"),
    everyHour: hours.every((matches) => matches === 1)
  })
}

const refuse = (message: string) => Result.fail([{ field: "schedule" as const, message }])

const nicknameMessage = (expression: string): string =>
  `${quote(expression)} is not one of ${[...nicknames.keys()].join(", ")}`

/** Fills a table with the valid values. Problems go to `issues`. */
const parseField = (
  rule: FieldRule,
  text: string,
  issues: Array<ScheduleIssue>,
  specials: Array<SpecialDay> = []
): Uint8Array => {
  const table = new Uint8Array(rule.size)
  const report = (message: string): void => {
    issues.push({ field: rule.field, message: `${rule.field}: ${message}` })
  }
  const items = text.split(",")
  if (items.includes("")) report(`${quote(text)} has an empty list item`)
  for (const item of items.filter((item) => item !== "")) {
    const special = rule.special?.(item)
    if (special !== undefined) {
      if (typeof special === "string") report(`${quote(item)} ${special}`)
      else specials.push(special)
      continue
    }
    const values = parseItem(rule, item)
    if (Array.isArray(values)) {
      values.forEach(report)
      continue
    }
    for (let value = values.first; value <= values.last; value += values.step) {
      table[value === 7 && rule === weekdayRule ? 0 : value] = 1
    }
  }
  return table
}

interface Values {
  readonly first: number
  readonly last: number
  readonly step: number
}

const parseItem = (rule: FieldRule, item: string): Values | Array<string> => {
  const [base = "", stepText, ...moreSteps] = item.split("/")
  if (moreSteps.length > 0) return [`${quote(item)} has more than one step`]
  const step = stepText === undefined ? 1 : Number(stepText)
  const problems: Array<string> = []
  if (stepText !== undefined && !(isDigits(stepText) && step >= 1 && step <= rule.max)) {
    problems.push(`step ${quote(stepText)} in ${quote(item)} is outside 1-${rule.max}`)
  }
  const range = parseRange(rule, base, stepText !== undefined)
  if (Array.isArray(range)) return [...range, ...problems]
  return problems.length > 0 ? problems : { ...range, step }
}

const parseRange = (
  rule: FieldRule,
  base: string,
  hasStep: boolean
): Omit<Values, "step"> | Array<string> => {
  if (base === "*") return { first: rule.min, last: rule === weekdayRule ? 6 : rule.max }
  const ends = base.split("-")
  const [from = "", to] = ends
  if (ends.length > 2 || ends.includes("")) {
    return [`${quote(base)} is not ${allowed(rule)}, or a range of them`]
  }
  const values = ends.map((end) => parseValue(rule, end))
  const messages = values.filter((value) => typeof value === "string")
  const [first, last = hasStep ? rule.max : first] = values
  if (typeof first !== "number" || typeof last !== "number") return messages
  if (to === undefined || first <= last) {
    return { first, last }
  }
  if (rule === weekdayRule && first === 7) return { first: 0, last }
  if (rule === weekdayRule && last === 0) return { first, last: 7 }
  const [start, end] = edges(rule, from)
  const instead = hasStep ? "" : `, write ${quote(`${from}-${end},${start}-${to}`)}`
  return [`range ${quote(base)} runs backwards${instead}`]
}

const parseValue = (rule: FieldRule, token: string): number | string => {
  if (isDigits(token)) {
    const value = Number(token)
    const inside = value >= rule.min && value <= rule.max
    return inside ? value : `${quote(token)} is outside ${rule.min}-${rule.max}`
  }
  if (token === "?") return `"?" is not supported, write "*"`
  if (rule.names.length === 0 || !/^[a-z]+$/i.test(token)) {
    return `${quote(token)} is not ${allowed(rule)}`
  }
  const index = rule.names.indexOf(token.toUpperCase())
  return index === -1 ? `unknown name ${quote(token)}, expected ${allowed(rule)}` : index + rule.min
}

const isDigits = (text: string): boolean => /^\d+$/.test(text)

/** Text of the user is shortened in error messages, so that an answer stays readable. */
const quote = (token: string): string =>
  JSON.stringify(token.length > 40 ? `${token.slice(0, 40)}…` : token)

const allowed = (rule: FieldRule): string => {
  const names = rule.names.length === 0 ? "" : ` or ${rule.names[0]}-${rule.names.at(-1)}`
  return `a number ${rule.min}-${rule.max}${names}`
}

/** The first and last value of a field, as names if the user writes names. */
const edges = (rule: FieldRule, like: string): readonly [string, string] => {
  const first = rule.names[0]
  const last = rule.names.at(-1)
  if (!isDigits(like) && first !== undefined && last !== undefined) return [first, last]
  return [String(rule.min), String(rule.size - 1)]
}
