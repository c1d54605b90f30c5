import { formatInterval, parseIntervalSeconds } from "@scheduling/schedules/Interval"
import { parseScheduleCached } from "@scheduling/schedules/parseScheduleCached"
import { previewSlotsInSteps } from "@scheduling/schedules/slots"
import { now } from "../clock.ts"
import { type Command, CommandError, exitStatus, UsageError, requiredArgument } from "../Command.ts"
import { print, printJson } from "../output.ts"

const clockChangeNotes = {
  moved: "clocks skip the scheduled time; it fires now instead",
  doubled: "clocks are set back; it fires a second time",
  dropped: "clocks are set back; it does not fire a second time"
} as const

export const next: Command = {
  name: "next",
  summary: "Shows when a schedule fires, and the effect of clock changes. Works offline.",
  usage: '["SCHEDULE"]',
  words: [0, 1],
  options: {
    every: { value: "INTERVAL", description: "An interval such as 90m, instead of a schedule." },
    anchor: { value: "TIME", description: "With --every: a time at which it fires." },
    tz: { value: "ZONE", description: "Time zone, such as Europe/Berlin. UTC when absent." },
    count: { value: "N", description: "Number of firings. 5 when absent." },
    from: { value: "TIME", description: "Shows firings after this time. Now when absent." },
    json: { description: "Prints one JSON object per line." }
  },
  examples: [
    'scheduling next "0 3 * * MON#1" --tz Europe/Berlin',
    "scheduling next --every 90m --anchor 2026-01-31T09:30:00Z --count 10 --json"
  ],
  run: (given) => {
    const schedule = scheduleOf(given)
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
        print(
          `${firing.at}  ${firing.local}${change === null ? "" : `  (${clockChangeNotes[change]})`}`
        )
      }
    }
    return exitStatus.success
  }
}

const scheduleOf = (given: Parameters<Command["run"]>[0]): string => {
  const every = given.value("every")
  const anchor = given.value("anchor") ?? null
  if ((every === undefined) === (given.words.length === 0)) {
    throw new UsageError("Give either a schedule or --every INTERVAL.")
  }
  if (every === undefined && anchor !== null) {
    throw new UsageError("--anchor needs --every INTERVAL.")
  }
  if (every === undefined) return cronExpression(requiredArgument(given, 0))
  const read = parseIntervalSeconds(every)
  if (typeof read === "string") throw new CommandError(`--every ${read}.`)
  if (anchor !== null && Number.isNaN(Date.parse(anchor))) {
    throw new UsageError("--anchor must be a time such as 2026-01-31T09:30:00Z.")
  }
  return formatInterval({ every, anchor })
}

const cronExpression = (text: string): string => {
  const schedule = text.trim().replaceAll(/\s+/g, " ")
  const reading = parseScheduleCached(schedule)
  if (reading.ok) return schedule
  throw new CommandError(reading.issues.map(({ message }) => `${message}.`).join(" "))
}

const timeOf = (text: string | undefined) => (text === undefined ? now() : Date.parse(text))

const firingsOf = (schedule: string, timezone: string, from: number, count: number) => {
  try {
    const steps = previewSlotsInSteps(schedule, timezone, from, count, {})
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
    }
  } catch (error) {
    throw new CommandError(`${timezone} is not a time zone.`, { cause: error })
  }
}
