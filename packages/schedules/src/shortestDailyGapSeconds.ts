import type { ParsedSchedule } from "./ParsedSchedule.ts"

/** The minimum interval between firings, in seconds. */
export const minGapSeconds = 5

/**
 * Returns the shortest interval between two firings in seconds, assuming that the schedule fires
 * every day. Ignores clock changes.
 */
export const shortestDailyGapSeconds = ({
  hours,
  minutes,
  seconds
}: Pick<ParsedSchedule, "hours" | "minutes" | "seconds">): number => {
  const ofMinute = matching(seconds)
  const everyMinute = matching(minutes)
  const ofDay = matching(hours).flatMap((hour) => everyMinute.map((minute) => 60 * hour + minute))
  const [firstMinute = 0] = ofDay
  const [firstSecond = 0] = ofMinute
  const lastSecond = ofMinute.at(-1) ?? 0
  const betweenMinutes = 60 * leastStep(ofDay, firstMinute + minutesOfDay)
  return Math.min(leastStep(ofMinute, Infinity), betweenMinutes + firstSecond - lastSecond)
}

const minutesOfDay = 24 * 60

const leastStep = (values: ReadonlyArray<number>, afterLast: number): number =>
  Math.min(...values.map((value, index) => (values[index + 1] ?? afterLast) - value))

const matching = (table: Uint8Array): ReadonlyArray<number> =>
  [...table].flatMap((matches, index) => (matches === 1 ? [index] : []))
