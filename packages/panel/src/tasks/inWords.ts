import cronstrue from "cronstrue"

/** A schedule in words: `Every 5 minutes`. The expression itself if there are none for it. */
export const inWords = (schedule: string): string => {
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
