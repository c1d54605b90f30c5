import { dayMs } from "../core/index.ts"

/**
 * Formats a date like `toISOString` in a quarter of the time. A page of ten tasks has forty
 * timestamps, and `toISOString` took a seventh of the time of the page.
 */
export const timestampOf = (date: Date): string => {
  const ms = date.getTime()
  const day = Math.floor(ms / dayMs)
  const inDay = ms - day * dayMs
  const seconds = Math.floor(inDay / 1000)
  return (
    dayText(day) +
    minuteTexts[Math.floor(seconds / 60)] +
    secondTexts[seconds % 60] +
    milliTexts[inDay % 1000]
  )
}

export const timestampOrNull = (date: Date | null | undefined): string | null =>
  date == null ? null : timestampOf(date)

const digits = (value: number, length: number) => String(value).padStart(length, "0")

const table = (size: number, textOf: (value: number) => string) =>
  Array.from({ length: size }, (_, value) => textOf(value))

const minuteTexts = table(
  24 * 60,
  (minute) => `${digits(Math.floor(minute / 60), 2)}:${digits(minute % 60, 2)}:`
)
const secondTexts = table(60, (second) => `${digits(second, 2)}.`)
const milliTexts = table(1000, (milli) => `${digits(milli, 3)}Z`)

/** The maximum number of cached days, more than ten years. */
const maxDays = 4_096
const dayTexts = new Map<number, string>()

const dayText = (day: number): string => {
  const known = dayTexts.get(day)
  if (known !== undefined) return known
  if (dayTexts.size >= maxDays) dayTexts.clear()
  const text = new Date(day * dayMs).toISOString().slice(0, -"00:00:00.000Z".length)
  dayTexts.set(day, text)
  return text
}
