import { Result } from "effect"
import { contentLines } from "./contentLines.ts"
import { dayNumber, parseRecurrence, type Recurrence } from "./recurrence.ts"

/** An all-day event, in days from 1970-01-01. */
export interface AllDayEvent {
  readonly uid: string
  readonly start: number
  /** In days. */
  readonly length: number
  readonly recurrence: Recurrence | undefined
  readonly alsoOn: ReadonlyArray<number>
  readonly exceptOn: ReadonlyArray<number>
}

export interface Events {
  readonly allDay: ReadonlyArray<AllDayEvent>
  /** Days of recurring events, by their UID, that another event stands for. */
  readonly replaced: ReadonlyMap<string, ReadonlySet<number>>
}

export const maxEvents = 5_000

/** Of one event, besides those that its rule names. */
const maxDates = 5_000

const datesPerStep = 50

/** Of a property, before its value. */
const maxParametersLength = 4_096

/** Deeper than an alarm in an event in a calendar. */
const maxDepth = 8

interface Line {
  readonly name: string
  readonly isDate: boolean
  readonly value: string
}

/** What an event says, as far as it is used. */
interface Written {
  /** The first line of each name. */
  readonly lines: Map<string, Line>
  readonly alsoOn: Array<string>
  readonly exceptOn: Array<string>
  /** In both lists. */
  dates: number
}

const nothingWritten = (): Written => ({ lines: new Map(), alsoOn: [], exceptOn: [], dates: 0 })

/**
 * Reads the all-day events of an iCalendar file (RFC 5545). Times and everything else are passed
 * over. It pauses after a few lines and dates, because a whole file may take long.
 */
export function* parseEvents(text: string): Generator<void, Result.Result<Events, string>> {
  const allDay: Array<AllDayEvent> = []
  const replaced = new Map<string, Set<number>>()
  const open: Array<string> = []
  let event = nothingWritten()
  let calendars = 0
  let events = 0
  for (const written of contentLines(text)) {
    if (written === undefined) {
      yield
      continue
    }
    if (written.text.trim() === "") continue
    const line = parseLine(written.text)
    if (line === undefined || (open.length === 0 && line.name !== "BEGIN")) return notACalendar
    if (line.name === "BEGIN") {
      const component = componentOf(line)
      if (open.length === 0 && component !== "VCALENDAR") return notACalendar
      if (open.push(component) > maxDepth) return notACalendar
      if (isInEvent(open)) {
        event = nothingWritten()
        if (++events > maxEvents) return Result.fail(`it has more than ${maxEvents} events`)
      }
    } else if (line.name === "END") {
      const isEvent = isInEvent(open)
      if (open.pop() !== componentOf(line)) return notACalendar
      if (open.length === 0) calendars++
      if (!isEvent) continue
      const read = yield* eventOf(event, replaced)
      if (Result.isFailure(read)) return Result.fail(read.failure)
      if (read.success !== undefined) allDay.push(read.success)
    } else if (isInEvent(open)) {
      add(event, line, written.isCut)
    }
  }
  return open.length === 0 && calendars > 0 ? Result.succeed({ allDay, replaced }) : notACalendar
}

const notACalendar = Result.fail("it is not a whole iCalendar file")

const componentOf = ({ value }: Line) => value.toUpperCase().trim()

const isInEvent = (open: ReadonlyArray<string>) => open.length === 2 && open[1] === "VEVENT"

/** The value begins after the first colon that is not in quotes. */
const parseLine = (line: string): Line | undefined => {
  let isQuoted = false
  const end = Math.min(line.length, maxParametersLength)
  for (let at = 0; at < end; at++) {
    const character = line[at]
    if (character === '"') isQuoted = !isQuoted
    if (character !== ":" || isQuoted) continue
    const [name = "", ...parameters] = line.slice(0, at).toUpperCase().split(";")
    return { name, isDate: parameters.includes("VALUE=DATE"), value: line.slice(at + 1) }
  }
  return undefined
}

const usedOnce = new Set([
  "UID",
  "RECURRENCE-ID",
  "DTSTART",
  "STATUS",
  "RRULE",
  "DTEND",
  "DURATION"
])

const add = (event: Written, line: Line, isCut: boolean): void => {
  if (usedOnce.has(line.name)) {
    if (!event.lines.has(line.name)) event.lines.set(line.name, line)
  } else if (line.name === "RDATE" || line.name === "EXDATE") {
    event.dates = isCut ? Infinity : event.dates + itemsIn(line.value)
    // Nothing is made of more, so that no list of a million is.
    if (event.dates > maxDates) return
    const dates = line.name === "RDATE" ? event.alsoOn : event.exceptOn
    dates.push(...line.value.split(","))
  }
}

/** It need not count further than to one too many. */
const itemsIn = (list: string): number => {
  let items = 1
  for (let at = list.indexOf(","); at !== -1 && items <= maxDates; at = list.indexOf(",", at + 1)) {
    items++
  }
  return items
}

/** Undefined if the event is none of whole days, or does not take place. */
function* eventOf(
  { alsoOn, dates, exceptOn, lines }: Written,
  replaced: Map<string, Set<number>>
): Generator<void, Result.Result<AllDayEvent | undefined, string>> {
  const uid = lines.get("UID")?.value ?? ""
  const replaces = dayNumber(lines.get("RECURRENCE-ID")?.value.trim() ?? "")
  if (replaces !== undefined) replaced.set(uid, (replaced.get(uid) ?? new Set()).add(replaces))
  const begins = lines.get("DTSTART")
  if (begins === undefined || !isWholeDay(begins)) return Result.succeed(undefined)
  if (lines.get("STATUS")?.value.trim().toUpperCase() === "CANCELLED") {
    return Result.succeed(undefined)
  }
  const start = dayNumber(begins.value.trim())
  if (start === undefined) return Result.fail(`${quoted(begins.value)} is not a date`)
  const rule = lines.get("RRULE")
  const recurrence = rule === undefined ? undefined : parseRecurrence(rule.value.trim())
  if (recurrence !== undefined && Result.isFailure(recurrence)) {
    return Result.fail(recurrence.failure)
  }
  if (dates > maxDates) return Result.fail(`an event has more than ${maxDates} dates`)
  return Result.succeed({
    uid,
    start,
    length: Math.max(1, lengthOf(start, lines.get("DTEND"), lines.get("DURATION"))),
    recurrence: recurrence?.success,
    alsoOn: yield* daysOf(alsoOn),
    exceptOn: yield* daysOf(exceptOn)
  })
}

const isWholeDay = ({ isDate, value }: Line) => isDate || /^\d{8}$/.test(value.trim())

const lengthOf = (start: number, end: Line | undefined, duration: Line | undefined): number => {
  const ends = end === undefined ? undefined : dayNumber(end.value.trim())
  if (ends !== undefined) return ends - start
  const [, weeks = 0, days = 0] =
    /^P(?:(\d{1,4})W)?(?:(\d{1,5})D)?$/.exec(duration?.value ?? "") ?? []
  return 7 * Number(weeks) + Number(days)
}

function* daysOf(items: ReadonlyArray<string>): Generator<void, ReadonlyArray<number>> {
  const days: Array<number> = []
  for (const [index, item] of items.entries()) {
    if (index % datesPerStep === 0) yield
    const day = dayNumber(item.trim().split("/", 1)[0] ?? "")
    if (day !== undefined) days.push(day)
  }
  return days
}

const quoted = (text: string) => JSON.stringify(text.slice(0, 40))
