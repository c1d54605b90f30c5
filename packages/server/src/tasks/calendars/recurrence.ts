import { Result } from "effect"

/** Days are counted from 1970-01-01. */
export interface CivilDay {
  readonly number: number
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly date: number
  /** Sunday is 0. */
  readonly weekday: number
}

/** Takes a tenth of the time of `civilDay`. */
export const dayAfter = (day: CivilDay): CivilDay => {
  const isMonthOver = day.date === daysInMonth(day)
  return {
    number: day.number + 1,
    year: isMonthOver && day.month === 12 ? day.year + 1 : day.year,
    month: isMonthOver ? (day.month % 12) + 1 : day.month,
    date: isMonthOver ? 1 : day.date + 1,
    weekday: (day.weekday + 1) % 7
  }
}

export const civilDay = (number: number): CivilDay => {
  const at = new Date(number * 86_400_000)
  return {
    number,
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    date: at.getUTCDate(),
    weekday: at.getUTCDay()
  }
}

/** Which days of one kind a rule names: `2MO` is the second Monday, `MO` each. */
interface NamedWeekday {
  readonly weekday: number
  /** 0 is each of them, and a negative one counts from the end. */
  readonly nth: number
}

export interface Recurrence {
  readonly frequency: "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY"
  readonly interval: number
  readonly count: number | undefined
  /** The last day. */
  readonly until: number | undefined
  readonly months: ReadonlyArray<number>
  readonly dates: ReadonlyArray<number>
  readonly weekdays: ReadonlyArray<NamedWeekday>
  readonly weekStart: number
}

const frequencies = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const
const weekdayNames = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]

/** Whether a rule names a day takes as long as the rule is. People's rules have fewer than 100. */
const maxRuleLength = 512

/** Reads what recurs by days. Parts that it does not know are refused, because a day would be missing. */
export const parseRecurrence = (text: string): Result.Result<Recurrence, string> => {
  if (text.length > maxRuleLength) return notSupported(text)
  const parts = new Map(
    text
      .toUpperCase()
      .split(";")
      .filter((part) => part !== "")
      .map((part) => part.split("=", 2) as [string, string | undefined])
  )
  const frequency = frequencies.find((one) => one === parts.get("FREQ"))
  const rest = [...parts.keys()].find((name) => !known.has(name))
  const until = parts.get("UNTIL")
  const [interval, count] = [wholes(parts.get("INTERVAL") ?? "1"), wholes(parts.get("COUNT"))]
  const [months, dates] = [wholes(parts.get("BYMONTH")), wholes(parts.get("BYMONTHDAY"))]
  const weekdays = (parts.get("BYDAY")?.split(",") ?? []).map(namedWeekday)
  const weekStart = weekdayNames.indexOf(parts.get("WKST") ?? "MO")
  const recurrence = {
    interval: interval[0] ?? 0,
    count: count[0],
    until: until === undefined ? undefined : dayNumber(until),
    months,
    dates,
    weekdays: weekdays.filter((named) => named !== undefined),
    weekStart
  }
  const isValid =
    frequency !== undefined &&
    rest === undefined &&
    recurrence.interval >= 1 &&
    !(until !== undefined && recurrence.until === undefined) &&
    !(parts.has("COUNT") && !((count[0] ?? 0) >= 1)) &&
    months.every((month) => month >= 1 && month <= 12) &&
    dates.every((date) => date !== 0 && Math.abs(date) <= 31) &&
    !weekdays.includes(undefined) &&
    weekStart !== -1 &&
    (frequency === "MONTHLY" || frequency === "YEARLY" || recurrence.weekdays.every(isEach))
  return isValid ? Result.succeed({ frequency, ...recurrence }) : notSupported(text)
}

const notSupported = (text: string) =>
  Result.fail(`the rule ${JSON.stringify(text.slice(0, 80))} is not supported`)

const known = new Set([
  "FREQ",
  "INTERVAL",
  "COUNT",
  "UNTIL",
  "BYMONTH",
  "BYMONTHDAY",
  "BYDAY",
  "WKST"
])

const isEach = ({ nth }: NamedWeekday) => nth === 0

/** NaN where something else stands, which is in no range. */
const wholes = (list: string | undefined): ReadonlyArray<number> =>
  list === undefined
    ? []
    : list.split(",").map((item) => (/^[+-]?\d{1,5}$/.test(item) ? Number(item) : Number.NaN))

const namedWeekday = (item: string): NamedWeekday | undefined => {
  const [, nth = "", name = ""] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(item) ?? []
  const weekday = weekdayNames.indexOf(name)
  return weekday === -1 || (nth !== "" && Number(nth) === 0)
    ? undefined
    : { weekday, nth: Number(nth) }
}

/** Of a date such as `20261224`, with or without a time behind it. */
export const dayNumber = (text: string): number | undefined => {
  const [, year = "", month = "", date = ""] =
    /^(\d{4})(\d{2})(\d{2})(?:T\d{6}Z?)?$/.exec(text) ?? []
  const at = Date.parse(`${year}-${month}-${date}T00:00:00Z`)
  const isDate = !Number.isNaN(at) && new Date(at).getUTCDate() === Number(date)
  return isDate ? at / 86_400_000 : undefined
}

/** Whether an event that begins with `start` recurs on the day, apart from its count. */
export const recursOn = (rule: Recurrence, start: CivilDay, day: CivilDay): boolean => {
  if (day.number < start.number || (rule.until !== undefined && day.number > rule.until))
    return false
  if (rule.months.length > 0 && !rule.months.includes(day.month)) return false
  if (periodsBetween(rule, start, day) % rule.interval !== 0) return false
  const length = daysInMonth(day)
  const { dates, frequency, months, weekdays } = rule
  if (
    dates.length > 0 &&
    !dates.some((date) => day.date === (date > 0 ? date : length + 1 + date))
  ) {
    return false
  }
  if (weekdays.length > 0) {
    const isWithinYear = frequency === "YEARLY" && months.length === 0 && dates.length === 0
    return weekdays.some((named) => isNamed(named, day, isWithinYear))
  }
  if (dates.length > 0 || frequency === "DAILY") return true
  if (frequency === "WEEKLY") return day.weekday === start.weekday
  const isMonth = frequency === "MONTHLY" || months.length > 0 || day.month === start.month
  return isMonth && day.date === start.date
}

const periodsBetween = (
  { frequency, weekStart }: Recurrence,
  start: CivilDay,
  day: CivilDay
): number => {
  switch (frequency) {
    case "DAILY":
      return day.number - start.number
    case "WEEKLY":
      return (weekOf(day, weekStart) - weekOf(start, weekStart)) / 7
    case "MONTHLY":
      return 12 * (day.year - start.year) + day.month - start.month
    case "YEARLY":
      return day.year - start.year
  }
}

/** The day with which its week begins. */
const weekOf = ({ number, weekday }: CivilDay, weekStart: number) =>
  number - ((weekday - weekStart + 7) % 7)

const isNamed = ({ nth, weekday }: NamedWeekday, day: CivilDay, isWithinYear: boolean): boolean => {
  if (weekday !== day.weekday) return false
  if (nth === 0) return true
  const [before, length] = isWithinYear
    ? [daysBeforeMonth(day) + day.date - 1, daysInYear(day)]
    : [day.date - 1, daysInMonth(day)]
  return nth > 0
    ? Math.floor(before / 7) + 1 === nth
    : -Math.floor((length - 1 - before) / 7) - 1 === nth
}

type Month = Pick<CivilDay, "month" | "year">

const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const daysBefore = lengths.map((_, month) =>
  lengths.slice(0, month).reduce((sum, one) => sum + one, 0)
)

const isLeap = ({ year }: Month): boolean =>
  year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const daysInYear = (day: Month): number => (isLeap(day) ? 366 : 365)

const daysInMonth = (day: Month): number =>
  (lengths[day.month - 1] ?? 0) + (day.month === 2 && isLeap(day) ? 1 : 0)

const daysBeforeMonth = (day: Month): number =>
  (daysBefore[day.month - 1] ?? 0) + (day.month > 2 && isLeap(day) ? 1 : 0)
