import { now } from "./clock.ts"

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Formats a count with its noun: `1 task`, `2 tasks`. */
export const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Formats a relative time: `in 4 min`, `3 h ago`, `now`. */
export const formatRelativeTime = (at: number, now: number): string => {
  const distance = Math.abs(at - now)
  if (distance < 1.5 * second) return "now"
  const text = roundedDuration(distance)
  return at > now ? `in ${text}` : `${text} ago`
}

/** Formats a duration in one unit: `18 min`. */
export const roundedDuration = (ms: number): string => {
  if (ms < 90 * second) return `${Math.round(ms / second)} s`
  if (ms < 90 * minute) return `${Math.round(ms / minute)} min`
  if (ms < 36 * hour) return `${Math.round(ms / hour)} h`
  if (ms < 60 * day) return plural(Math.round(ms / day), "day")
  if (ms < 700 * day) return plural(Math.round(ms / (30 * day)), "month")
  return plural(Math.round(ms / (365 * day)), "year")
}

/** Formats a duration: `245 ms`, `1.2 s`, `2 min 3 s`, `4 h 5 min`. */
export const formatDuration = (ms: number): string => {
  if (ms < second) return `${Math.round(ms)} ms`
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`
  if (ms < minute) return `${Math.round(ms / second)} s`
  if (ms < hour) return two(ms, minute, "min", second, "s")
  if (ms < day) return two(ms, hour, "h", minute, "min")
  return two(ms, day, "d", hour, "h")
}

export const formatDurationOfSeconds = (seconds: number): string => formatDuration(seconds * second)

const two = (ms: number, big: number, bigName: string, small: number, smallName: string) => {
  const rest = Math.floor((ms % big) / small)
  const whole = `${Math.floor(ms / big)} ${bigName}`
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`
}

/** Formats a count: `1,234`, or `12.3k` from ten thousand. */
export const formatCount = (value: number): string =>
  value < 10_000
    ? value.toLocaleString("en")
    : value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 }).toLowerCase()

/** Formats a fraction: `99.95%`. Never rounds up to 100. */
export const formatPercent = (share: number): string => {
  const value = Math.floor(share * 10_000) / 100
  return `${value.toFixed(value === 0 || value === 100 ? 0 : value > 99 ? 2 : 1)}%`
}

export const formatBytes = (value: number): string =>
  value < 1_000
    ? `${value} B`
    : value < 1e6
      ? `${Math.round(value / 1e3)} kB`
      : value < 1e9
        ? `${(value / 1e6).toFixed(1)} MB`
        : `${(value / 1e9).toFixed(1)} GB`

const inZone = (options: Intl.DateTimeFormatOptions) => {
  const known = new Map<string | undefined, Intl.DateTimeFormat>()
  return (at: number | string, timeZone?: string): string => {
    let format = known.get(timeZone)
    if (format === undefined) {
      format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone, hourCycle: "h23" })
      known.set(timeZone, format)
    }
    return format.format(new Date(at))
  }
}

/** Formats a time as `Sun 22 Nov 2026, 10:15:30`, in the user's time zone or in `timeZone`. */
export const formatDateTime = inZone({
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit"
})

const yearOf = inZone({ year: "numeric" })

/** Returns a formatter that adds the year to a time unless it is in the current year. */
const withOtherYear = (options: Intl.DateTimeFormatOptions) => {
  const thisYear = inZone(options)
  const otherYear = inZone({ ...options, year: "numeric" })
  return (at: number | string, timeZone?: string, today = now()): string =>
    (yearOf(at, timeZone) === yearOf(today, timeZone) ? thisYear : otherYear)(at, timeZone)
}

/** Formats a time as `22 Nov, 10:15`, or as `22 Nov 2027, 10:15` if it is in another year. */
export const formatShortDateTime = withOtherYear({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit"
})

export const formatShortExactDateTime = withOtherYear({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit"
})

/** Formats a time with milliseconds: `22 Nov, 10:15:30.123`. */
export const formatShortPreciseDateTime = withOtherYear({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3
})

/** True if different times are in the same second, so that only milliseconds distinguish them. */
export const needMilliseconds = (times: ReadonlyArray<string | null>): boolean => {
  const known = new Set(times.filter((at) => at !== null))
  return new Set([...known].map((at) => formatShortExactDateTime(at))).size < known.size
}

export const formatDay = withOtherYear({ weekday: "short", day: "numeric", month: "short" })

export const formatTimeOfDay = inZone({ hour: "2-digit", minute: "2-digit" })

export const formatExactTimeOfDay = inZone({
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit"
})

export const formatPreciseTimeOfDay = inZone({
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3
})

export const userTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const known = new Map<string, boolean>()

/** Returns whether a time zone is the user's, also if it is written differently: `Etc/UTC`. */
export const isUserTimeZone = (zone: string): boolean => {
  const before = known.get(zone)
  if (before !== undefined) return before
  const isSame = resolvedZone(zone) === userTimeZone()
  known.set(zone, isSame)
  return isSame
}

const resolvedZone = (zone: string): string => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    // A form can contain an unfinished name.
    return zone
  }
}
