import cronstrue from "cronstrue"

/**
 * A cache of descriptions. Lists show the same schedule in many rows, and cronstrue takes half a
 * millisecond per schedule.
 */
const known = new Map<string, string>()
const maxKnown = 1_000

/**
 * Describes a schedule: `Every 5 minutes`. Returns the expression itself if cronstrue cannot parse
 * it.
 */
export const describeSchedule = (schedule: string): string => {
  const before = known.get(schedule)
  if (before !== undefined) return before
  if (known.size === maxKnown) known.clear()
  const words = wordsOf(schedule)
  known.set(schedule, words)
  return words
}

/** Describes when a task fires. Undefined if it has neither a schedule nor an interval. */
export const describeTiming = ({
  every,
  schedule
}: {
  readonly every: string | null
  readonly schedule: string | null
}): string | undefined =>
  every !== null ? `Every ${every}` : schedule === null ? undefined : describeSchedule(schedule)

const wordsOf = (schedule: string): string => {
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
