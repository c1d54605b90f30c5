import { Schema } from "effect"
import { Percentiles } from "../executions/ExecutionStats.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp } from "../shared/Timestamp.ts"

export const UptimePeriod = oneOf(["24h", "7d", "30d", "90d", "365d"], {
  identifier: "UptimePeriod",
  description: "The period that the statistics cover. `24h` when absent.",
  examples: ["30d"]
})
export type UptimePeriod = typeof UptimePeriod.Type

/** The length of each period, and the length of its buckets. */
export const uptimePeriods: Readonly<
  Record<UptimePeriod, { readonly seconds: number; readonly bucketSeconds: 300 | 3_600 | 86_400 }>
> = {
  "24h": { seconds: 86_400, bucketSeconds: 300 },
  "7d": { seconds: 7 * 86_400, bucketSeconds: 3_600 },
  "30d": { seconds: 30 * 86_400, bucketSeconds: 3_600 },
  "90d": { seconds: 90 * 86_400, bucketSeconds: 86_400 },
  "365d": { seconds: 365 * 86_400, bucketSeconds: 86_400 }
}

/** Returns when each bucket of the period that ends at `toMs` begins, oldest first. */
export const uptimeBucketStarts = (period: UptimePeriod, toMs: number) => {
  const { bucketSeconds, seconds } = uptimePeriods[period]
  const widthMs = bucketSeconds * 1_000
  const fromMs = Math.floor((toMs - seconds * 1_000) / widthMs) * widthMs
  const starts = Array.from(
    { length: Math.ceil((toMs - fromMs) / widthMs) },
    (_, index) => fromMs + index * widthMs
  )
  return { bucketSeconds, widthMs, fromMs, starts }
}

const figures = {
  uptime: Schema.NullOr(Schema.Finite).annotate({
    description:
      "The fraction of the monitored time in which the monitor was not `down`, from 0 to 1. " +
      "Null if it was not monitored: time while it is `new` or `paused` does not count."
  }),
  down_seconds: Schema.Finite.annotate({ description: "How long the monitor was `down`." }),
  watched_seconds: Schema.Finite.annotate({
    description: "How long the monitor was neither `new` nor `paused`."
  }),
  checks: Schema.Int.annotate({
    description: "The number of checks of the target. 0 for kinds without a target."
  }),
  failed_checks: Schema.Int.annotate({ description: "The number of failed checks." }),
  latency_ms: Schema.NullOr(Percentiles).annotate({
    description:
      "The duration of successful checks, with an error of at most an eighth. Null if there are none."
  })
}

/** The response fields that contain the time range. */
export const periodRange = {
  period: UptimePeriod,
  from: Timestamp.annotate({
    description:
      "The start of the period, inclusive, rounded down to five minutes, an hour or a day in UTC."
  }),
  to: Timestamp.annotate({ description: "The end, exclusive: the time of the request." })
}

const exampleFigures = {
  uptime: 0.99931,
  down_seconds: 60,
  watched_seconds: 86_400,
  checks: 1_440,
  failed_checks: 3,
  latency_ms: { p50: 81, p95: 203, p99: 406 }
}

export const exampleRange = {
  period: "24h",
  from: "2026-01-30T09:30:00.000Z",
  to: "2026-01-31T09:30:00.000Z"
} as const

export const bucketSecondsField = Schema.Int.annotate({
  description: "The length of a bucket: 300 for `24h`, 3,600 for `7d` and `30d`, otherwise 86,400."
})

export const MonitorUptime = Schema.Struct({ ...periodRange, ...figures }).annotate({
  identifier: "MonitorUptime",
  description: "The uptime of a monitor in a period.",
  examples: [{ ...exampleRange, ...exampleFigures }]
})
export type MonitorUptime = typeof MonitorUptime.Type

export const MonitorUptimeSeries = Schema.Struct({
  ...periodRange,
  bucket_seconds: bucketSecondsField,
  buckets: Schema.Array(
    Schema.Struct({
      start: Timestamp.annotate({ description: "When the bucket begins." }),
      ...figures
    }).annotate({ identifier: "UptimeBucket" })
  ).annotate({ description: "Every bucket of the period, including empty ones, oldest first." })
}).annotate({
  identifier: "MonitorUptimeSeries",
  description: "The uptime of a monitor in each bucket of a period.",
  examples: [
    {
      ...exampleRange,
      bucket_seconds: 300,
      buckets: [{ start: "2026-01-30T09:30:00.000Z", ...exampleFigures }]
    }
  ]
})
export type MonitorUptimeSeries = typeof MonitorUptimeSeries.Type
