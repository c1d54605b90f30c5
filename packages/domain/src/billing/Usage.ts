import { Result, Schema } from "effect"
import { issueAt, type ValidationIssue } from "../shared/ValidationIssue.ts"

const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text)

export const Day = Schema.String.check(
  Schema.makeFilter(isDay, {
    expected: "a day such as 2026-01-31",
    toJsonSchema: () => ({ format: "date" })
  })
).annotate({ description: "A day in UTC.", examples: ["2026-01-31"] })
export type Day = typeof Day.Type

export const UsageQuery = {
  from: Schema.optionalKey(
    Day.annotate({ description: "The first day. Defaults to 30 days before `to`." })
  ),
  to: Schema.optionalKey(Day.annotate({ description: "The last day. Defaults to today." }))
}

export const UsageOfDay = Schema.Struct({
  day: Day,
  executions: Schema.Int.annotate({
    description: "Executions that made at least one call and finished on this day."
  }),
  notifications: Schema.Int.annotate({ description: "Delivered notifications." }),
  monitors: Schema.Int.annotate({
    description: "The highest number of monitors on this day."
  }),
  seats: Schema.Int.annotate({ description: "The highest number of members on this day." })
}).annotate({
  identifier: "UsageOfDay",
  examples: [{ day: "2026-01-31", executions: 1440, notifications: 3, monitors: 12, seats: 4 }]
})
export type UsageOfDay = typeof UsageOfDay.Type

export const Usage = Schema.Struct({
  data: Schema.Array(UsageOfDay).annotate({
    description: "One entry per day of the range, oldest first."
  })
}).annotate({ identifier: "Usage" })
export type Usage = typeof Usage.Type

const maxDays = 366
const dayMs = 24 * 60 * 60 * 1000

/** Returns the day range of a query, at most one year. */
export const usageRange = (
  query: { readonly from?: Day; readonly to?: Day },
  now: Date
): Result.Result<{ readonly from: Day; readonly to: Day }, ValidationIssue> => {
  const to = query.to ?? dayOf(now.getTime())
  const from = query.from ?? dayOf(Date.parse(to) - 30 * dayMs)
  if (from > to) return Result.fail(issueAt(["from"], "out_of_range", "must not be after to"))
  if (Date.parse(to) - Date.parse(from) >= maxDays * dayMs) {
    return Result.fail(
      issueAt(["from"], "out_of_range", `must be less than ${maxDays} days before to`)
    )
  }
  return Result.succeed({ from, to })
}

export const dayOf = (time: number): Day => Day.make(new Date(time).toISOString().slice(0, 10))

export const daysBetween = (from: Day, to: Day): ReadonlyArray<Day> => {
  const days: Array<Day> = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += dayMs) days.push(dayOf(time))
  return days
}
