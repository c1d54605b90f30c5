import { minGapSeconds } from "./shortestDailyGapSeconds.ts"

// An interval of elapsed time, counted from an anchor. It has no drift: each firing is the anchor
// plus a multiple of the interval, whenever it is computed. Clock changes do not affect it.
//
// Functions that take a schedule also take the text of an interval, which `formatInterval` creates.
// `parseSchedule` rejects that text, so a cron expression from outside never is one.

export interface Interval {
  readonly everyMs: number
  /** A time at which the interval fires, in milliseconds since the epoch. */
  readonly anchorMs: number
}

/** An interval as it was written in the request. */
export interface IntervalParts {
  readonly every: string
  /** Null counts from 1970-01-01 in UTC. */
  readonly anchor: string | null
}

export const longestIntervalSeconds = 366 * 86_400

export const intervalPattern =
  /^(?=[1-9])(?:([1-9]\d{0,7})d)?(?:([1-9]\d{0,7})h)?(?:([1-9]\d{0,7})m)?(?:([1-9]\d{0,7})s)?$/

/**
 * Returns the length in seconds of an interval such as `90m` or `1h30m`, or the problem with the
 * text.
 */
export const parseIntervalSeconds = (text: string): number | string => {
  const parts = intervalPattern.exec(text)
  if (parts === null) return "must be a duration such as 45s, 90m, 1h30m or 2d"
  const [days, hours, minutes, seconds] = parts.slice(1).map((part = "0") => Number(part))
  const total = 86_400 * (days ?? 0) + 3_600 * (hours ?? 0) + 60 * (minutes ?? 0) + (seconds ?? 0)
  return total >= minGapSeconds && total <= longestIntervalSeconds
    ? total
    : `must be from ${minGapSeconds}s to ${longestIntervalSeconds / 86_400}d`
}

const prefix = "@every "
const separator = " from "

export const formatInterval = ({ anchor, every }: IntervalParts): string =>
  `${prefix}${every}${anchor === null ? "" : `${separator}${anchor}`}`

/** Returns the parts of an interval's text, or undefined for a cron expression. */
export const intervalParts = (schedule: string): IntervalParts | undefined => {
  if (!schedule.startsWith(prefix)) return undefined
  const [every = "", anchor = null] = schedule.slice(prefix.length).split(separator)
  return { every, anchor }
}

/** Returns the interval, or undefined for a cron expression. Throws for an invalid interval. */
export const intervalOf = (schedule: string): Interval | undefined => {
  const written = intervalParts(schedule)
  if (written === undefined) return undefined
  const { anchor, every } = written
  const seconds = parseIntervalSeconds(every)
  const anchorMs = anchor === null ? 0 : Date.parse(anchor)
  if (typeof seconds === "string" || Number.isNaN(anchorMs)) {
    throw new RangeError(`${schedule} is not an interval`)
  }
  return { everyMs: seconds * 1_000, anchorMs }
}

/** Returns the last firing at or before `at`. */
export const latestIntervalFiring = ({ anchorMs, everyMs }: Interval, at: number): number =>
  anchorMs + Math.floor((at - anchorMs) / everyMs) * everyMs

/** Returns the first firing after `at`. */
export const nextIntervalFiring = (interval: Interval, at: number): number =>
  latestIntervalFiring(interval, at) + interval.everyMs
