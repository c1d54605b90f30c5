import { Schema } from "effect"
import { outcomeStatisticsFields } from "../executions/ExecutionStats.ts"
import { bucketSecondsField, exampleRange, periodRange } from "../monitors/MonitorUptime.ts"
import { Timestamp } from "../shared/Timestamp.ts"

const count = (which: string) =>
  Schema.Int.annotate({ description: `The number of ${which} runs.` })

const figures = {
  succeeded: count("succeeded"),
  failed: count("failed"),
  cancelled: count("cancelled"),
  skipped: count("skipped"),
  ...outcomeStatisticsFields("runs")
}

const exampleFigures = {
  succeeded: 287,
  failed: 1,
  cancelled: 0,
  skipped: 0,
  success_rate: 0.99653,
  duration_ms: { p50: 127, p95: 340, p99: 512 }
}

export const TaskUptime = Schema.Struct({ ...periodRange, ...figures }).annotate({
  identifier: "TaskUptime",
  description: "How often the runs of a task succeeded in a period, and how long they took.",
  examples: [{ ...exampleRange, ...exampleFigures }]
})
export type TaskUptime = typeof TaskUptime.Type

export const TaskUptimeSeries = Schema.Struct({
  ...periodRange,
  bucket_seconds: bucketSecondsField,
  buckets: Schema.Array(
    Schema.Struct({
      start: Timestamp.annotate({ description: "When the bucket begins." }),
      ...figures
    }).annotate({ identifier: "TaskBucket" })
  ).annotate({ description: "Every bucket of the period, including empty ones, oldest first." })
}).annotate({
  identifier: "TaskUptimeSeries",
  description: "The runs of a task in each bucket of a period.",
  examples: [
    {
      ...exampleRange,
      bucket_seconds: 300,
      buckets: [{ start: "2026-01-30T09:30:00.000Z", ...exampleFigures }]
    }
  ]
})
export type TaskUptimeSeries = typeof TaskUptimeSeries.Type
