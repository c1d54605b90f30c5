import cronstrue from "cronstrue"

/** Lists ask for the same again with each row that is drawn, and an answer takes half a millisecond. */
const known = new Map<string, string>()
const maxKnown = 1_000

/** A schedule in words: `Every 5 minutes`. The expression itself if there are none for it. */
export const inWords = (schedule: string): string => {
  const before = known.get(schedule)
  if (before !== undefined) return before
  if (known.size === maxKnown) known.clear()
  const words = wordsOf(schedule)
  known.set(schedule, words)
  return words
}

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
