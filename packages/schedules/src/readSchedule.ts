import type { ParsedSchedule } from "./ParsedSchedule.ts"
import { parseSchedule, type ScheduleReading } from "./parseSchedule.ts"

const maxParsed = 5000

/** A cache: parsing takes about 5 µs, and an entry about 700 bytes. The oldest is dropped first. */
const parsedSchedules = new Map<string, ParsedSchedule>()

/** `parseSchedule`, which remembers the schedules that are valid. */
export const readSchedule = (text: string): ScheduleReading => {
  const cached = parsedSchedules.get(text)
  if (cached !== undefined) return { ok: true, schedule: cached }
  const reading = parseSchedule(text)
  if (reading.ok) remember(text, reading.schedule)
  return reading
}

/** The schedule of a text that has been checked. Another text is a `RangeError`. */
export const parsedOf = (text: string): ParsedSchedule => {
  const cached = parsedSchedules.get(text)
  if (cached !== undefined) return cached
  const reading = readSchedule(text)
  if (reading.ok) return reading.schedule
  throw new RangeError(reading.issues.map(({ message }) => message).join(", "))
}

const remember = (text: string, parsed: ParsedSchedule): void => {
  const oldest = parsedSchedules.keys().next()
  if (parsedSchedules.size >= maxParsed && !oldest.done) parsedSchedules.delete(oldest.value)
  parsedSchedules.set(text, parsed)
}
