import {
  type DstOptions,
  latestFiring,
  nextFiring,
  previewFirings,
  type PreviewedFiring
} from "./Firings.ts"
import { offsetPeriodAt } from "./ZoneClock.ts"

/** Decides which firings of a schedule are slots of its task. By default, all of them are. */
export interface SlotRule extends DstOptions {
  readonly starts_at?: string
  readonly ends_at?: string
  /** Excluded dates in the schedule's time zone, such as `2026-12-24`. */
  readonly excluded_days?: ReadonlyArray<string>
  /** The excluded days of the task's calendar, in the same format. */
  readonly calendar_days?: ReadonlySet<string> | undefined
}

/** Returns the first slot after `after`, or null if there is none before `ends_at`. */
export const nextSlot = (...args: Parameters<typeof nextSlotInSteps>): number | null =>
  atOnce(nextSlotInSteps(...args))

/**
 * Like `nextSlot`, but yields after each excluded day, because 100 excluded days may span decades.
 */
export function* nextSlotInSteps(
  schedule: string,
  timezone: string,
  after: Date | number,
  rule: SlotRule
): Generator<void, number | null> {
  const { ends, excluded, starts } = boundsOf(rule)
  for (let from = Math.max(Number(after), starts - 1); ;) {
    const at = nextFiring(schedule, timezone, from, rule)
    if (at > ends) return null
    if (excluded === undefined || !excluded.has(dayOf(at, timezone))) return at
    from = lastOfDay(at, timezone)
    yield
  }
}

/** Returns the last slot between `lowerBound` and `now`, both inclusive, if any. */
export const latestSlot = (
  schedule: string,
  timezone: string,
  now: Date | number,
  lowerBound: Date | number,
  rule: SlotRule
): number | undefined => {
  const { ends, excluded, starts } = boundsOf(rule)
  const earliest = Math.max(Number(lowerBound), starts)
  for (let until = Math.min(Number(now), ends); ;) {
    const at = latestFiring(schedule, timezone, until, earliest, rule)
    if (excluded === undefined || at === undefined) return at
    if (!excluded.has(dayOf(at, timezone))) return at
    until = beforeDay(at, timezone)
  }
}

/** The time range of a preview. The first firing may lie beyond it. */
const previewedMs = 10 * 365.25 * 86_400_000

/**
 * Returns the next `count` slots after `from` within ten years, in the format of `preview`. An
 * excluded day is represented by its first firing, which does not count. Yields after each firing,
 * because firings may be years apart.
 */
export function* previewSlotsInSteps(
  schedule: string,
  timezone: string,
  from: Date | number,
  count: number,
  rule: SlotRule
): Generator<void, ReadonlyArray<PreviewedFiring>> {
  const { ends, excluded, starts } = boundsOf(rule)
  const listed: Array<PreviewedFiring> = []
  let after = Math.max(Number(from), starts - 1)
  const horizon = after + previewedMs
  let shownDay: string | undefined
  for (let slots = 0; slots < count;) {
    const firings = previewFirings(schedule, timezone, after, 1, rule).filter(({ at }) => {
      const firesAt = Date.parse(at)
      return firesAt <= ends && (firesAt <= horizon || listed.length === 0)
    })
    if (firings.length === 0) break
    for (const firing of firings) {
      after = Date.parse(firing.at)
      const day = dayOf(after, timezone)
      const isDropped = firing.clock_change === "dropped"
      if (excluded === undefined || !excluded.has(day)) {
        listed.push(firing)
        if (!isDropped) slots++
        continue
      }
      if (!isDropped && day !== shownDay) listed.push({ ...firing, excluded: true })
      shownDay = day
      after = lastOfDay(after, timezone)
    }
    yield
  }
  return listed
}

export const isOnExcludedDay = (at: number, timezone: string, rule: SlotRule): boolean =>
  boundsOf(rule).excluded?.has(dayOf(at, timezone)) ?? false

const dayMs = 86_400_000

const atOnce = <A>(steps: Generator<void, A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The latest time that the API can represent: later years have five digits. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const boundsOf = ({ calendar_days, ends_at, excluded_days, starts_at }: SlotRule) => ({
  starts: starts_at === undefined ? -Infinity : Date.parse(starts_at),
  ends: ends_at === undefined ? lastMs : Date.parse(ends_at),
  excluded: excludedBy(excluded_days, calendar_days)
})

const excludedBy = (
  days: ReadonlyArray<string> | undefined,
  calendar: ReadonlySet<string> | undefined
): Pick<ReadonlySet<string>, "has"> | undefined => {
  if (days === undefined) return calendar
  const own = new Set(days)
  return calendar === undefined ? own : { has: (day) => own.has(day) || calendar.has(day) }
}

const dayOf = (at: number, timezone: string): string =>
  new Date(at + offsetPeriodAt(timezone, at).offset).toISOString().slice(0, 10)

/**
 * Returns the last millisecond of the day, or the last millisecond before a clock change on that
 * day. Skipping a day with a clock change therefore takes two steps.
 */
const lastOfDay = (at: number, timezone: string): number => {
  const { end, offset } = offsetPeriodAt(timezone, at)
  return Math.min(Math.ceil((at + offset + 1) / dayMs) * dayMs - offset, end) - 1
}

/**
 * Returns the last millisecond before the day, or the last millisecond before a clock change on
 * that day.
 */
const beforeDay = (at: number, timezone: string): number => {
  const { offset, start } = offsetPeriodAt(timezone, at)
  return Math.max(Math.floor((at + offset) / dayMs) * dayMs - offset, start) - 1
}
