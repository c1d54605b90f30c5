/** The thread that parses calendars for `calendarThread`. */
import { parentPort } from "node:worker_threads"
import { CalendarProblem } from "./CalendarProblem.ts"
import { daysOfCalendar } from "./daysOfCalendar.ts"

const read = (text: string, nowMs: number) => {
  try {
    return { days: daysOfCalendar(text, nowMs) }
  } catch (cause) {
    if (cause instanceof CalendarProblem) return { problem: cause.message }
    throw cause
  }
}

parentPort?.on("message", ({ nowMs, text }) => parentPort?.postMessage(read(text, nowMs)))
