import { readSchedule } from "@scheduling/schedules/readSchedule"
import { previewInSteps } from "@scheduling/schedules/slots"
import { now } from "../clock.ts"
import { type Command, CommandError, exitStatus, UsageError, wordAt } from "../Command.ts"
import { print, printJson } from "../output.ts"

const changes = {
  moved: "clocks skip its time; it fires now in its place",
  doubled: "clocks are set back; it fires a second time",
  dropped: "its time occurs twice; it does not fire again"
} as const

export const next: Command = {
  name: "next",
  summary: "Shows when a schedule fires, and the effect of clock changes. Works offline.",
  usage: '"SCHEDULE"',
  words: [1, 1],
  options: {
    tz: { value: "ZONE", description: "Time zone, such as Europe/Berlin. UTC when absent." },
    count: { value: "N", description: "Number of firings. 5 when absent." },
    from: { value: "TIME", description: "Shows firings after this time. Now when absent." },
    json: { description: "Prints one JSON object per line." }
  },
  examples: [
    'scheduling next "0 3 * * MON#1" --tz Europe/Berlin',
    'scheduling next "*/15 9-17 * * MON-FRI" --count 10 --json'
  ],
  run: (given) => {
    const schedule = wordAt(given, 0).trim().replaceAll(/\s+/g, " ")
    const reading = readSchedule(schedule)
    if (!reading.ok) {
      throw new CommandError(reading.issues.map(({ message }) => `${message}.`).join(" "))
    }
    const timezone = given.value("tz") ?? "UTC"
    const count = Number(given.value("count") ?? 5)
    if (!Number.isInteger(count) || count < 1 || count > 1_000) {
      throw new UsageError("--count must be a whole number from 1 to 1000.")
    }
    const from = timeOf(given.value("from"))
    if (Number.isNaN(from))
      throw new UsageError("--from must be a time such as 2026-01-31T09:30:00Z.")
    for (const firing of firingsOf(schedule, timezone, from, count)) {
      if (given.has("json")) printJson(firing)
      else {
        const change = firing.clock_change
        print(`${firing.at}  ${firing.local}${change === null ? "" : `  (${changes[change]})`}`)
      }
    }
    return exitStatus.success
  }
}

const timeOf = (text: string | undefined) => (text === undefined ? now() : Date.parse(text))

const firingsOf = (schedule: string, timezone: string, from: number, count: number) => {
  try {
    const steps = previewInSteps(schedule, timezone, from, count, {})
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
    }
  } catch (error) {
    throw new CommandError(`${timezone} is not a time zone.`, { cause: error })
  }
}
