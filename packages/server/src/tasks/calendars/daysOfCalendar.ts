import ICAL from "ical.js"
import { RRuleTemporal } from "rrule-temporal"
import { CalendarProblem, calendarTooComplexMessage } from "./CalendarProblem.ts"

/** For how many days ahead a calendar's days are computed. */
export const calendarDaysAhead = 400

export const maxCalendarEvents = 5_000

/** The maximum number of dates that one event can list in addition to those of its rule. */
const maxDates = 5_000

const dayMs = 86_400_000

/** The result of `ICAL.parse` (jCal, RFC 7265). Its dates are in ISO 8601. */
type Property = readonly [
  name: string,
  parameters: unknown,
  type: string,
  ...values: ReadonlyArray<unknown>
]
type Component = readonly [
  name: string,
  properties: ReadonlyArray<Property>,
  components: ReadonlyArray<Component>
]

// This setting keeps rules as text. Otherwise, ical.js would reject a calendar because of a rule
// that is not used, and its own iterator never ends for some rules.
Object.assign(ICAL.design.icalendar.value, { recur: {} })

/**
 * Returns the days that the all-day events of an iCalendar file (RFC 5545) cover. They begin with
 * yesterday, because in some time zones it is still yesterday. A malicious file can keep this
 * function busy for hours, so it runs in a thread.
 */
export const daysOfCalendar = (text: string, nowMs: number): ReadonlyArray<string> => {
  const events = eventsOf(text)
  if (events.length > maxCalendarEvents)
    throw new CalendarProblem(`it has more than ${maxCalendarEvents} events`)
  const first = Math.floor(nowMs / dayMs) - 1
  const last = first + calendarDaysAhead - 1
  const covered = new Set<number>()
  const replaced = replacedDays(events)
  for (const event of events) {
    const days = allDays(event)
    if (days === undefined) continue
    const except = new Set([...days.except, ...(replaced.get(days.uid) ?? [])])
    const begins = [
      ...days.also,
      ...(days.rule === undefined
        ? [days.start]
        : recurrences(days.rule, days.start, first - days.length + 1, last))
    ]
    for (const begin of begins) {
      if (except.has(begin)) continue
      const end = Math.min(begin + days.length - 1, last)
      for (let day = Math.max(begin, first); day <= end; day++) covered.add(day)
    }
  }
  return [...covered].toSorted((a, b) => a - b).map(isoDate)
}

const eventsOf = (text: string): ReadonlyArray<Component> => {
  const file = text.replace(/^\uFEFF/, "").replace(/\r?\n[ \t]/g, "")
  let parsed: Component | ReadonlyArray<Component>
  try {
    parsed = ICAL.parse(file)
  } catch {
    throw new CalendarProblem(notACalendar)
  }
  const calendars = isComponent(parsed) ? [parsed] : parsed
  const areWhole = calendars.length > 0 && calendars.every(([name]) => name === "vcalendar")
  if (!areWhole || !isNested(file)) throw new CalendarProblem(notACalendar)
  return calendars.flatMap(([, , components]) =>
    components.filter(([name]) => name.trim() === "vevent")
  )
}

const notACalendar = "it is not a complete iCalendar file"

const isComponent = (parsed: Component | ReadonlyArray<Component>): parsed is Component =>
  typeof parsed[0] === "string"

/**
 * Returns whether each `END` closes the component that was opened last. ical.js does not check
 * this.
 */
const isNested = (file: string): boolean => {
  const open: Array<string> = []
  for (const [, word, name = ""] of file.toUpperCase().matchAll(/^(BEGIN|END):(.*)/gm)) {
    if (word === "BEGIN") open.push(name.trim())
    else if (open.pop() !== name.trim()) return false
  }
  return true
}

/**
 * The days on which a separate event, with a `RECURRENCE-ID`, replaces a recurring event. They are
 * listed by the recurring event's UID.
 */
const replacedDays = (events: ReadonlyArray<Component>): Map<string, Array<number>> => {
  const replaced = new Map<string, Array<number>>()
  for (const event of events) {
    const day = dayOf(valueOf(event, "recurrence-id"))
    const uid = String(valueOf(event, "uid"))
    if (day !== undefined) replaced.set(uid, [...(replaced.get(uid) ?? []), day])
  }
  return replaced
}

/** An all-day event. Days are counted from 1970-01-01. */
interface AllDays {
  /** The UID of the event. Empty if the event replaces one day of a recurring event. */
  readonly uid: string
  readonly start: number
  readonly length: number
  readonly rule: string | undefined
  readonly also: ReadonlyArray<number>
  readonly except: ReadonlyArray<number>
}

/**
 * Reads an all-day event. Returns undefined for a cancelled event, and for an event that is not an
 * all-day event.
 */
const allDays = (event: Component): AllDays | undefined => {
  const [, , type, written] = propertyOf(event, "dtstart") ?? []
  // ical.js appends `T::` to a date in a place where it expects a time.
  const isWholeDay = type === "date" || /^\d{4}-\d{2}-\d{2}(?:T::)?$/.test(String(written))
  const status = String(valueOf(event, "status")).trim().toUpperCase()
  if (!isWholeDay || status === "CANCELLED") return undefined
  const start = dayOf(written)
  if (start === undefined) {
    throw new CalendarProblem(`${quoted(String(written).replaceAll("-", ""), 40)} is not a date`)
  }
  const [also, except] = ["rdate", "exdate"].map((name) =>
    event[1].flatMap(([is, , , ...values]) => (is === name ? values : []))
  ) as [Array<unknown>, Array<unknown>]
  if (also.length + except.length > maxDates) {
    throw new CalendarProblem(`an event has more than ${maxDates} dates`)
  }
  const rule = valueOf(event, "rrule")
  const isReplacement = propertyOf(event, "recurrence-id") !== undefined
  return {
    uid: isReplacement ? "" : String(valueOf(event, "uid")),
    start,
    length: Math.max(1, lengthOf(event, start)),
    rule: rule === undefined ? undefined : String(rule),
    also: also.map(dayOf).filter((day) => day !== undefined),
    except: except.map(dayOf).filter((day) => day !== undefined)
  }
}

const lengthOf = (event: Component, start: number): number => {
  const end = dayOf(valueOf(event, "dtend"))
  if (end !== undefined) return end - start
  const duration = String(valueOf(event, "duration"))
  const [, weeks = 0, days = 0] = /^P(?:(\d{1,4})W)?(?:(\d{1,5})D)?/.exec(duration) ?? []
  return 7 * Number(weeks) + Number(days)
}

/** Returns the first property with this name. */
const propertyOf = ([, properties]: Component, name: string): Property | undefined =>
  properties.find(([is]) => is === name)

const valueOf = (event: Component, name: string): unknown => propertyOf(event, name)?.[3]

/** Returns the day of a date or a time, or the first day of a period. */
const dayOf = (value: unknown): number | undefined => {
  const [date = ""] = /^\d{4}-\d{2}-\d{2}/.exec(String(value)) ?? []
  const day = Date.parse(`${date}T00:00Z`) / dayMs
  return !Number.isNaN(day) && isoDate(day) === date ? day : undefined
}

const isoDate = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

const quoted = (text: string, length: number): string => JSON.stringify(text.slice(0, length))

/** Returns the days in a range on which an event that begins at `start` recurs. */
const recurrences = (
  written: string,
  start: number,
  from: number,
  to: number
): ReadonlyArray<number> => {
  const rule = written.trim().toUpperCase().replace(/;+$/, "")
  const refusal = new CalendarProblem(`the rule ${quoted(written.trim(), 80)} is not supported`)
  if (!supported.test(rule) || isMistaken(rule)) throw refusal
  const days = `DTSTART;VALUE=DATE:${isoDate(start).replaceAll("-", "")}
RRULE:${rule.replace(/(UNTIL=\d{8})T\d{6}Z?/, "$1")}`
  let recurring: RRuleTemporal
  try {
    recurring = new RRuleTemporal({ rruleString: days, maxIterations: Number.MAX_SAFE_INTEGER })
  } catch {
    throw refusal
  }
  try {
    return recurring
      .between(new Date(from * dayMs), new Date(to * dayMs), true)
      .map(({ epochMilliseconds }) => epochMilliseconds / dayMs)
  } catch {
    throw new CalendarProblem(calendarTooComplexMessage)
  }
}

const listOf = (item: string) => `(?:${item})(?:,(?:${item}))*`
const number = "0*[1-9]\\d{0,4}"
const weekday = "(?:SU|MO|TU|WE|TH|FR|SA)"

/**
 * Matches the rules that rrule-temporal supports. It ignores parts and values that it does not
 * know, so days would be missing.
 */
const supported = new RegExp(
  `^(?:(?:^|;)(?:${[
    "FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)",
    `INTERVAL=${number}`,
    `COUNT=${number}`,
    "UNTIL=\\d{8}(?:T\\d{6}Z?)?",
    `BYMONTH=${listOf("0?[1-9]|1[0-2]")}`,
    `BYMONTHDAY=${listOf("[+-]?(?:0?[1-9]|[12]\\d|3[01])")}`,
    `BYDAY=${listOf(`(?:[+-]?\\d{1,2})?${weekday}`)}`,
    `WKST=${weekday}`
  ].join("|")}))+$`
)

/**
 * Returns whether rrule-temporal 2.2.8 computes other days for a rule than RFC 5545 defines. This
 * concerns a whole year's numbered weekdays combined with other weekdays or with dates, and the
 * number 53. Numbered weekdays are valid only for months and years.
 */
const isMistaken = (rule: string): boolean => {
  const [, items = ""] = /BYDAY=([^;]*)/.exec(rule) ?? []
  if (!/\d/.test(items)) return false
  if (!/FREQ=(?:MONTHLY|YEARLY)/.test(rule) || /(?:^|,)[+-]?0+[A-Z]/.test(items)) return true
  const isOfYear = rule.includes("FREQ=YEARLY") && !rule.includes("BYMONTH=")
  const areInEachYear = items
    .split(",")
    .every((item) => /^[+-]?(?:\d|[1-4]\d|5[0-2])[A-Z]/.test(item))
  return isOfYear && (!areInEachYear || rule.includes("BYMONTHDAY="))
}
