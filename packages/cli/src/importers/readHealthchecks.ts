import {
  convertRecords,
  type ConversionResult,
  definedOnly,
  type ImportResult,
  makeUniqueKeys,
  recordsIn,
  scheduleProblem,
  type RecordReader,
  tagsField
} from "./ImportResult.ts"

/** Fields that the import ignores: the state of a check, and values derived from its UUID. */
const state = [
  "badge_url",
  "last_duration",
  "last_ping",
  "n_pings",
  "next_ping",
  "pause_url",
  "ping_url",
  "resume_url",
  "started",
  "unique_key",
  "update_url"
]

const longest = 365 * 24 * 60 * 60

/** Reads the response of `GET /api/v3/checks/` of Healthchecks. Each check becomes a heartbeat. */
export const readHealthchecks = (value: unknown): ImportResult => {
  const keyOf = makeUniqueKeys()
  const convert = (check: RecordReader): ConversionResult => {
    const name = check.text("name")
    const slug = check.text("slug")
    const schedule = check.text("schedule")
    const timezone = check.text("tz")
    const period_seconds = check.number("timeout", 30, longest)
    if (schedule !== "") {
      const problem = scheduleProblem(schedule)
      if (problem !== undefined) return `${schedule}: ${problem}`
    } else if (period_seconds === undefined) return "it has neither a period nor a schedule"
    const ping_id = check.text("uuid")
    return {
      section: "monitors",
      record: definedOnly({
        kind: "heartbeat",
        key: keyOf(slug || name),
        name: (name || slug || "unnamed check").slice(0, 200),
        ...tagsField(check.text("tags").split(/\s+/)),
        ...(schedule === "" ? { period_seconds } : { schedule, timezone: timezone || undefined }),
        grace_seconds: check.number("grace", 30, longest),
        ping_id: ping_id === "" ? undefined : ping_id,
        paused: check.text("status") === "paused" ? true : undefined
      }),
      ...(ping_id === "" && {
        notes: "without its UUID, which Healthchecks shows with a read-write key"
      })
    }
  }
  const records = recordsIn(value, "checks")
  return convertRecords(records, ({ name }, index) => `check ${name || index + 1}`, convert, state)
}
