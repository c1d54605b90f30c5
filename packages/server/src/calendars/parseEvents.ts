import { Result } from "effect"
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

/** Of a property, before its value. */
const maxParametersLength = 4_096

/** Deeper than an alarm in an event in a calendar. */
const maxDepth = 8

interface Line {
  readonly name: string
  readonly isDate: boolean
  readonly value: string
}

/**
 * Reads the all-day events of an iCalendar file (RFC 5545). Times and everything else are passed
 * over. It pauses after each line, because a whole file may take long.
 */
export function* parseEvents(text: string): Generator<void, Result.Result<Events, string>> {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replace(/\r?\n[ \t]/g, "")
    .split(/\r?\n/)
  const allDay: Array<AllDayEvent> = []
  const replaced = new Map<string, Set<number>>()
  const open: Array<string> = []
  let event: Array<Line> = []
  let calendars = 0
  let events = 0
  for (const written of lines) {
    yield
    if (written.trim() === "") continue
    const line = parseLine(written)
    if (line === undefined || (open.length === 0 && line.name !== "BEGIN")) return notACalendar
    const component = line.value.toUpperCase().trim()
    if (line.name === "BEGIN") {
      if (open.length === 0 && component !== "VCALENDAR") return notACalendar
      if (open.push(component) > maxDepth) return notACalendar
      if (isInEvent(open)) {
        event = []
        if (++events > maxEvents) return Result.fail(`it has more than ${maxEvents} events`)
      }
    } else if (line.name === "END") {
      const isEvent = isInEvent(open)
      if (open.pop() !== component) return notACalendar
      if (open.length === 0) calendars++
      if (!isEvent) continue
      const read = eventOf(event, replaced)
      if (Result.isFailure(read)) return Result.fail(read.failure)
      if (read.success !== undefined) allDay.push(read.success)
    } else if (isInEvent(open)) {
      event.push(line)
    }
  }
  return open.length === 0 && calendars > 0 ? Result.succeed({ allDay, replaced }) : notACalendar
}

const notACalendar = Result.fail("it is not a whole iCalendar file")

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

/** Undefined if the event is none of whole days, or does not take place. */
const eventOf = (
  lines: ReadonlyArray<Line>,
  replaced: Map<string, Set<number>>
): Result.Result<AllDayEvent | undefined, string> => {
  const find = (name: string) => lines.find((line) => line.name === name)
  const uid = find("UID")?.value ?? ""
  const replaces = dayNumber(find("RECURRENCE-ID")?.value.trim() ?? "")
  if (replaces !== undefined) replaced.set(uid, (replaced.get(uid) ?? new Set()).add(replaces))
  const begins = find("DTSTART")
  if (begins === undefined || !isWholeDay(begins)) return Result.succeed(undefined)
  if (find("STATUS")?.value.trim().toUpperCase() === "CANCELLED") return Result.succeed(undefined)
  const start = dayNumber(begins.value.trim())
  if (start === undefined) return Result.fail(`${quoted(begins.value)} is not a date`)
  const rule = find("RRULE")
  const recurrence = rule === undefined ? undefined : parseRecurrence(rule.value.trim())
  if (recurrence !== undefined && Result.isFailure(recurrence)) {
    return Result.fail(recurrence.failure)
  }
  const [alsoOn, exceptOn] = [itemsOf(lines, "RDATE"), itemsOf(lines, "EXDATE")]
  if (alsoOn.length + exceptOn.length > maxDates) {
    return Result.fail(`an event has more than ${maxDates} dates`)
  }
  return Result.succeed({
    uid,
    start,
    length: Math.max(1, lengthOf(start, find("DTEND"), find("DURATION"))),
    recurrence: recurrence?.success,
    alsoOn: alsoOn.flatMap(dayOf),
    exceptOn: exceptOn.flatMap(dayOf)
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

const itemsOf = (lines: ReadonlyArray<Line>, name: string): ReadonlyArray<string> =>
  lines.filter((line) => line.name === name).flatMap(({ value }) => value.split(","))

const dayOf = (item: string) => dayNumber(item.trim().split("/", 1)[0] ?? "") ?? []

const quoted = (text: string) => JSON.stringify(text.slice(0, 40))
