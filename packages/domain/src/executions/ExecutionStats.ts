import { Result, Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"
import { TaskId } from "./Execution.ts"
import { issueAt, type ValidationIssue } from "../shared/ValidationIssue.ts"

const hour = 60 * 60 * 1000
const day = 24 * hour

export const StatsBucket = oneOf(["hour", "day"], {
  identifier: "StatsBucket",
  description: "Defaults to `hour`. Buckets start on full hours or days in UTC."
})
export type StatsBucket = typeof StatsBucket.Type

const defaultBucket: StatsBucket = "hour"
const defaultSpan = day

/** The earliest possible `Timestamp`. */
const earliest = Date.parse("0000-01-01T00:00:00Z")

/**
 * The maximum length of the time range in days, per kind of bucket. It limits a response to 745
 * hours or 367 days.
 */
const maxSpanDays = { hour: 31, day: 366 } as const

export const StatsQuery = {
  from: Schema.optionalKey(timestampInput("The start, inclusive. Defaults to a day before `to`.")),
  to: Schema.optionalKey(timestampInput("The end, exclusive. Defaults to now.")),
  bucket: Schema.optionalKey(StatsBucket),
  task_id: Schema.optionalKey(TaskId)
}

export interface StatsRange {
  readonly from: Date
  readonly to: Date
  readonly bucket: StatsBucket
}

/** Returns the time range of the statistics. The default is the last 24 hours. */
export const statsRange = (
  query: { readonly from?: Timestamp; readonly to?: Timestamp; readonly bucket?: StatsBucket },
  now: Date
): Result.Result<StatsRange, ValidationIssue> => {
  const bucket = query.bucket ?? defaultBucket
  const to = query.to === undefined ? now.getTime() : Date.parse(query.to)
  const from =
    query.from === undefined ? Math.max(to - defaultSpan, earliest) : Date.parse(query.from)
  if (from >= to) {
    return Result.fail(
      issueAt(["from"], "out_of_range", "must be before to, which defaults to now")
    )
  }
  if (to - from > maxSpanDays[bucket] * day) {
    const days = maxSpanDays[bucket]
    const message = `must be at most ${days} days before to with the bucket "${bucket}"`
    return Result.fail(issueAt(["from"], "out_of_range", message))
  }
  return Result.succeed({ from: new Date(from), to: new Date(to), bucket })
}

const count = (which: string) =>
  Schema.Int.annotate({ description: `The number of ${which} executions.` })

export const Percentiles = Schema.Struct({
  p50: Schema.Finite.annotate({
    description: "The median: half of the values are at or below it."
  }),
  p95: Schema.Finite.annotate({ description: "95 % of the values are at or below it." }),
  p99: Schema.Finite.annotate({ description: "99 % of the values are at or below it." })
}).annotate({ identifier: "Percentiles" })

export const outcomeStatisticsFields = (what: "executions" | "runs") => ({
  success_rate: Schema.NullOr(Schema.Finite).annotate({
    description: `The success rate of ${what}, from 0 to 1: the successes divided by the successes and failures. Null if there are none.`
  }),
  duration_ms: Schema.NullOr(Percentiles).annotate({
    description: `The durations of ${what} that succeeded or failed. Null if there are none.`
  })
})

const figures = {
  counts: Schema.Struct({
    queued: count("queued"),
    running: count("running"),
    succeeded: count("succeeded"),
    failed: count("failed"),
    cancelled: count("cancelled"),
    skipped: count("skipped")
  }).annotate({
    identifier: "ExecutionCounts",
    description: "The number of executions in each status."
  }),
  ...outcomeStatisticsFields("executions"),
  lateness_ms: Schema.NullOr(Percentiles).annotate({
    description:
      "The time from `scheduled_for` to the start, for executions that started. Null if none did."
  })
}

const exampleFigures = {
  counts: { queued: 0, running: 1, succeeded: 58, failed: 1, cancelled: 0, skipped: 0 },
  success_rate: 0.9831,
  duration_ms: { p50: 127, p95: 340, p99: 512 },
  lateness_ms: { p50: 4, p95: 9, p99: 16 }
}

export const ExecutionFigures = Schema.Struct(figures).annotate({ identifier: "ExecutionFigures" })
export type ExecutionFigures = typeof ExecutionFigures.Type

/** Statistics of executions, by the hour or day of their scheduled time. */
export const ExecutionStats = Schema.Struct({
  from: Timestamp.annotate({ description: "The start of the time range, inclusive." }),
  to: Timestamp.annotate({ description: "The end of the time range, exclusive." }),
  bucket: StatsBucket,
  totals: ExecutionFigures.annotate({ description: "The statistics of the whole time range." }),
  buckets: Schema.Array(
    Schema.Struct({
      start: Timestamp.annotate({ description: "When the hour or day begins." }),
      ...figures
    }).annotate({ identifier: "ExecutionBucket" })
  ).annotate({
    description: "All buckets from `from` to `to`, including empty ones, oldest first."
  })
}).annotate({
  identifier: "ExecutionStats",
  examples: [
    {
      from: "2026-01-31T09:00:00.000Z",
      to: "2026-01-31T10:00:00.000Z",
      bucket: "hour",
      totals: exampleFigures,
      buckets: [{ start: "2026-01-31T09:00:00.000Z", ...exampleFigures }]
    }
  ]
})
export type ExecutionStats = typeof ExecutionStats.Type
