import { Result } from "effect"
import { inTurns } from "../../core/index.ts"
import { type AllDayEvent, type Events, parseEvents } from "./parseEvents.ts"
import { type CivilDay, civilDay, dayAfter, recursOn } from "./recurrence.ts"

/** How far ahead the days of a calendar are known. */
export const daysAhead = 400

/** 5,000 yearly events need as many. They take half a second. */
const maxLooks = 2_000_000

/** A calendar pauses after so many looks at whether an event recurs on a day. */
const looksPerStep = 200

/**
 * The days from yesterday on, as no zone is further away, that the all-day events of a calendar
 * cover. A failure says what is wrong with it. A file of two kilobytes has held a node for five
 * seconds.
 */
export const daysOfCalendar = (text: string, nowMs: number) => inTurns(daysIn(text, nowMs))

/** Pauses after little work each time. */
export function* daysIn(
  text: string,
  nowMs: number
): Generator<void, Result.Result<ReadonlyArray<string>, string>> {
  const events = yield* parseEvents(text)
  if (Result.isFailure(events)) return Result.fail(events.failure)
  const from = Math.floor(nowMs / 86_400_000) - 1
  const ahead = Array.from({ length: daysAhead }, (_, index) => civilDay(from + index))
  const covered = new Set<number>()
  let looks = 0
  for (const event of events.success.allDay) {
    for (const day of coveredBy(event, events.success, ahead)) {
      if (day !== undefined) covered.add(day)
      if (++looks > maxLooks) {
        return Result.fail("its recurring events go back too far, or are too many")
      }
      if (looks % looksPerStep === 0) yield
    }
  }
  return Result.succeed(
    [...covered]
      .toSorted((a, b) => a - b)
      .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10))
  )
}

/** The days that an event covers, and undefined for each other day that was looked at. */
function* coveredBy(
  event: AllDayEvent,
  { replaced }: Events,
  ahead: ReadonlyArray<CivilDay>
): Generator<number | undefined> {
  const [first] = ahead
  const last = ahead.at(-1)
  if (first === undefined || last === undefined) return
  const { recurrence } = event
  const except = new Set(event.exceptOn)
  const elsewhere = recurrence === undefined ? undefined : replaced.get(event.uid)
  function* from(day: number) {
    yield undefined
    if (except.has(day) || elsewhere?.has(day) === true) return
    const end = Math.min(day + event.length - 1, last?.number ?? 0)
    for (let one = Math.max(day, first?.number ?? 0); one <= end; one++) yield one
  }
  for (const day of event.alsoOn) yield* from(day)
  if (recurrence === undefined) return yield* from(event.start)
  const start = civilDay(event.start)
  const { count = Infinity } = recurrence
  // Those that are counted are so from the first on.
  const begin = Math.max(event.start, first.number - event.length + 1)
  let counted = 0
  let day = count === Infinity ? civilDay(begin) : start
  for (; day.number <= last.number && counted < count; day = dayAfter(day)) {
    yield undefined
    if (!recursOn(recurrence, start, day)) continue
    counted++
    yield* from(day.number)
  }
}
