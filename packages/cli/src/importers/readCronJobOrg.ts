import {
  convertRecords,
  type ConversionResult,
  credentialNote,
  definedOnly,
  type Fields,
  type ImportResult,
  isFields,
  makeUniqueKeys,
  recordsIn,
  type RecordReader
} from "./ImportResult.ts"

const state = [
  "folderId",
  "jobId",
  "lastDuration",
  "lastExecution",
  "lastStatus",
  "nextExecution",
  "type"
]

const methods = ["GET", "POST", "OPTIONS", "HEAD", "PUT", "DELETE", "TRACE", "CONNECT", "PATCH"]
const supported = new Set(["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH"])

/** Converts a list of numbers to a field of a cron expression. -1 means every value. */
const cronField = (value: unknown): string => {
  const numbers = Array.isArray(value) ? value : []
  return numbers.length === 0 || numbers.includes(-1) ? "*" : numbers.join(",")
}

const scheduleOf = (schedule: Fields): string | undefined => {
  const names = ["minutes", "hours", "mdays", "months", "wdays"]
  const fields = names.map((name) => cronField(schedule[name]))
  // On cron-job.org, the day of the month and the day of the week must both match. In a cron
  // expression, one of them is enough, so such a schedule cannot be converted.
  return fields[2] !== "*" && fields[4] !== "*" ? undefined : fields.join(" ")
}

/** Reads the responses of `GET /jobs` and `GET /jobs/{id}` of cron-job.org. */
export const readCronJobOrg = (value: unknown): ImportResult => {
  const keyOf = makeUniqueKeys()
  const convert = (job: RecordReader): ConversionResult => {
    const given = job.object("schedule")
    const schedule = scheduleOf(given)
    const url = job.text("url")
    if (schedule === undefined) return "days of the month and of the week that must both match"
    if (!/^https?:\/\//.test(url)) return `${url} is not a URL`
    const method = methods[job.number("requestMethod", 0, 8) ?? 0] ?? "GET"
    if (!supported.has(method)) return `the method ${method}`
    const timeout = job.number("requestTimeout", -1, 300)
    const { body, headers } = job.object("extendedData")
    const auth = job.object("auth")
    const enabled = job.take("enabled") !== false
    const title = job.text("title") || url
    const timezone = given["timezone"]
    const notes = [
      ...(isFields(headers) ? [credentialNote(headers) ?? []].flat() : []),
      ...(auth["enable"] === true ? ["set its basic authentication in `auth`"] : []),
      ...(given["expiresAt"]
        ? [`set \`ends_at\`: it expires at ${String(given["expiresAt"])}`]
        : [])
    ]
    return {
      section: "tasks",
      record: definedOnly({
        key: keyOf(title),
        name: title.slice(0, 200),
        url,
        method,
        schedule,
        timezone: timezone === "UTC" || !timezone ? undefined : timezone,
        headers: isFields(headers) && Object.keys(headers).length > 0 ? headers : undefined,
        body: body === "" || body === null ? undefined : body,
        timeout_seconds: timeout !== undefined && timeout > 0 ? timeout : undefined,
        paused: enabled ? undefined : true
      }),
      ...(notes.length > 0 && { notes: notes.join("; ") })
    }
  }
  const jobs = isFields(value) && isFields(value["jobDetails"]) ? [value["jobDetails"]] : undefined
  const records = jobs ?? recordsIn(value, "jobs")
  return convertRecords(records, ({ jobId }, index) => `job ${jobId ?? index + 1}`, convert, state)
}
