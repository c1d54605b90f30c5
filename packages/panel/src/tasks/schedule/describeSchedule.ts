import cronstrue from "cronstrue"
import { isUserTimeZone } from "../../ui/values/format.ts"

/**
 * A cache of descriptions. Lists show the same schedule in many rows, and cronstrue takes half a
 * millisecond per schedule.
 */
const known = new Map<string, string>()
const maxKnown = 1_000

/**
 * Describes a schedule: `Every 5 minutes`. A time of day is followed by the time zone, unless it is
 * the user's: `Every day at 05:00 UTC`. Returns the expression itself if cronstrue cannot parse it.
 */
export const describeSchedule = (schedule: string, timezone: string): string => {
  const words = wordsOf(schedule)
  return isUserTimeZone(timezone) ? words : words.replace(lastTimeOfDay, `$& ${timezone}`)
}

const lastTimeOfDay = /\d\d:\d\d(?!.*\d\d:\d\d)/

/** Describes when a task fires. Undefined if it has neither a schedule nor an interval. */
export const describeTiming = ({
  every,
  schedule,
  timezone
}: {
  readonly every: string | null
  readonly schedule: string | null
  readonly timezone: string
}): string | undefined =>
  every !== null
    ? `Every ${every}`
    : schedule === null
      ? undefined
      : describeSchedule(schedule, timezone)

const wordsOf = (schedule: string): string => {
  const before = known.get(schedule)
  if (before !== undefined) return before
  if (known.size === maxKnown) known.clear()
  const words = parse(schedule)
  known.set(schedule, words)
  return words
}

const parse = (schedule: string): string => {
  try {
    const words = cronstrue.toString(schedule, {
      use24HourTimeFormat: true,
      throwExceptionOnParseError: true
    })
    return words.replace(/^At (\d\d:\d\d)$/, "Every day at $1")
  } catch {
    return schedule
  }
}
