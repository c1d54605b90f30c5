import {
  convertRecords,
  type ConversionResult,
  credentialNote,
  definedOnly,
  type Fields,
  type ImportResult,
  makeUniqueKeys,
  recordsIn,
  scheduleProblem,
  type RecordReader
} from "./ImportResult.ts"

const state = [
  "callerIP",
  "createdAt",
  "lastScheduleStates",
  "lastScheduleTime",
  "nextScheduleTime",
  "scheduleId"
]

const headersOf = (header: Fields): Fields =>
  Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name, [value].flat().join(", ")])
  )

const callback = (url: string): Fields | undefined => (url === "" ? undefined : { url })

/** Reads the response of `GET /v2/schedules` of QStash. Each schedule becomes a cron task. */
export const readQstash = (value: unknown): ImportResult => {
  const keyOf = makeUniqueKeys()
  const convert = (one: RecordReader): ConversionResult => {
    const url = one.text("destination")
    const [, zone, schedule = ""] = /^(?:CRON_TZ=(\S+)\s+)?(.*)$/.exec(one.text("cron")) ?? []
    const problem = scheduleProblem(schedule)
    if (problem !== undefined) return `${schedule}: ${problem}`
    if (!/^https?:\/\//.test(url)) return `the destination ${url} is a group of addresses`
    const headers = headersOf(one.object("header"))
    const encoded = one.text("bodyBase64")
    const body = encoded === "" ? one.text("body") : Buffer.from(encoded, "base64").toString("utf8")
    const isPaused = one.take("isPaused") === true
    const name = one.text("label") || url
    const note = credentialNote(headers)
    return {
      section: "tasks",
      record: definedOnly({
        key: keyOf(one.text("label") || new URL(url).pathname || url),
        name: name.slice(0, 200),
        url,
        method: one.text("method") || "POST",
        schedule,
        timezone: zone,
        headers: Object.keys(headers).length > 0 ? headers : undefined,
        body: body === "" ? undefined : body,
        retry_count: one.number("retries", 0, 10),
        timeout_seconds: one.number("timeout", 1, 300),
        on_success: callback(one.text("callback")),
        on_failure: callback(one.text("failureCallback")),
        paused: isPaused ? true : undefined
      }),
      ...(note !== undefined && { notes: note })
    }
  }
  const records = recordsIn(value, "schedules")
  const nameOf = ({ scheduleId }: Fields, index: number) => `schedule ${scheduleId ?? index + 1}`
  return convertRecords(records, nameOf, convert, state)
}
