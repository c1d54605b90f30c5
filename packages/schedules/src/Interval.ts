import { leastGapSeconds } from "./gapOf.ts"

// An interval of elapsed time, counted from an anchor. It has no drift: each firing is the anchor
// plus a multiple of the interval, whenever it is computed. Clock changes do not affect it.
//
// Functions that take a schedule also take the text of an interval, which `intervalText` creates.
// `parseSchedule` rejects that text, so a cron expression from outside never is one.

export interface Interval {
  readonly everyMs: number
  /** A time at which the interval fires, in milliseconds since the epoch. */
  readonly anchorMs: number
}

/** An interval as it was written in the request. */
export interface WrittenInterval {
  readonly every: string
  /** Null counts from 1970-01-01 in UTC. */
  readonly anchor: string | null
}

export const longestIntervalSeconds = 366 * 86_400

export const everyPattern =
  /^(?=[1-9])(?:([1-9]\d{0,7})d)?(?:([1-9]\d{0,7})h)?(?:([1-9]\d{0,7})m)?(?:([1-9]\d{0,7})s)?$/

/** Returns the length of an interval such as `90m` or `1h30m` in seconds, or the problem with it. */
export const readEvery = (text: string): number | string => {
  const parts = everyPattern.exec(text)
  if (parts === null) return "must be a duration such as 45s, 90m, 1h30m or 2d"
  const [days, hours, minutes, seconds] = parts.slice(1).map((part = "0") => Number(part))
  const total = 86_400 * (days ?? 0) + 3_600 * (hours ?? 0) + 60 * (minutes ?? 0) + (seconds ?? 0)
  return total >= leastGapSeconds && total <= longestIntervalSeconds
    ? total
    : `must be from ${leastGapSeconds}s to ${longestIntervalSeconds / 86_400}d`
}

const prefix = "@every "
const separator = " from "

export const intervalText = ({ anchor, every }: WrittenInterval): string =>
  `${prefix}${every}${anchor === null ? "" : `${separator}${anchor}`}`

/** Returns the parts of an interval's text, or undefined for a cron expression. */
export const writtenInterval = (schedule: string): WrittenInterval | undefined => {
  if (!schedule.startsWith(prefix)) return undefined
  const [every = "", anchor = null] = schedule.slice(prefix.length).split(separator)
  return { every, anchor }
}

/** Returns the interval, or undefined for a cron expression. Throws for an invalid interval. */
export const intervalOf = (schedule: string): Interval | undefined => {
  const written = writtenInterval(schedule)
  if (written === undefined) return undefined
  const { anchor, every } = written
  const seconds = readEvery(every)
  const anchorMs = anchor === null ? 0 : Date.parse(anchor)
  if (typeof seconds === "string" || Number.isNaN(anchorMs)) {
    throw new RangeError(`${schedule} is not an interval`)
  }
  return { everyMs: seconds * 1_000, anchorMs }
}

/** Returns the last firing at or before `at`. */
export const intervalAtOrBefore = ({ anchorMs, everyMs }: Interval, at: number): number =>
  anchorMs + Math.floor((at - anchorMs) / everyMs) * everyMs

/** Returns the first firing after `at`. */
export const intervalAfter = (interval: Interval, at: number): number =>
  intervalAtOrBefore(interval, at) + interval.everyMs
