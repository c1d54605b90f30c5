import { uptimeBucketStarts, type UptimePeriod } from "@scheduling/domain/monitors/MonitorUptime"
import { NotFound } from "@scheduling/domain/shared/Errors"
import type { TaskUptimeSeries, TaskUptime } from "@scheduling/domain/tasks/TaskUptime"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StoreClock, timestampOf } from "../../store/index.ts"
import { StatisticsHistogram } from "../executions/StatisticsHistogram.ts"
import type { CronOrChainRef } from "../TaskRow.ts"
import { type RunCountsRow, TaskBucketsRepo } from "./TaskBucketsRepo.ts"

/** Computes how often the runs of tasks succeeded in a period, and how long they took. */
export class TaskUptimes extends Context.Service<
  TaskUptimes,
  {
    readonly uptime: (
      task: CronOrChainRef,
      period: UptimePeriod | undefined
    ) => Effect.Effect<TaskUptime, NotFound>
    readonly series: (
      task: CronOrChainRef,
      period: UptimePeriod | undefined
    ) => Effect.Effect<TaskUptimeSeries, NotFound>
  }
>()("@scheduling/server/tasks/uptime/TaskUptimes") {
  static readonly layer: Layer.Layer<TaskUptimes, never, SqlClient.SqlClient | TaskBucketsRepo> =
    Layer.effect(
      TaskUptimes,
      Effect.gen(function* () {
        const now = Effect.orDie((yield* StoreClock)(yield* SqlClient.SqlClient))
        const repo = yield* TaskBucketsRepo

        const read = Effect.fnUntraced(function* (task: CronOrChainRef, period: UptimePeriod) {
          if (!(yield* repo.exists(task))) {
            return yield* new NotFound({ resource: task.kind === "cron" ? "task" : "chain" })
          }
          const toMs = (yield* now).getTime()
          const buckets = uptimeBucketStarts(period, toMs)
          const rows = yield* repo.list(task, new Date(buckets.fromMs))
          const range = {
            period,
            from: timestampOf(new Date(buckets.fromMs)),
            to: timestampOf(new Date(toMs))
          }
          return { ...buckets, range, rows }
        })

        return TaskUptimes.of({
          uptime: Effect.fn("TaskUptimes.uptime")(function* (task, period = "24h") {
            const { range, rows } = yield* read(task, period)
            return { ...range, ...figuresOf(rows) }
          }),

          series: Effect.fn("TaskUptimes.series")(function* (task, period = "24h") {
            const { bucketSeconds, fromMs, range, rows, starts, widthMs } = yield* read(
              task,
              period
            )
            const inBuckets = Map.groupBy(rows, ({ starts_at }) =>
              Math.floor((starts_at.getTime() - fromMs) / widthMs)
            )
            return {
              ...range,
              bucket_seconds: bucketSeconds,
              buckets: starts.map((startMs, index) => ({
                start: timestampOf(new Date(startMs)),
                ...figuresOf(inBuckets.get(index) ?? [])
              }))
            }
          })
        })
      })
    )
}

const figuresOf = (rows: ReadonlyArray<RunCountsRow>) => {
  const sum = (name: "succeeded" | "failed" | "cancelled" | "skipped") =>
    rows.reduce((total, row) => total + row[name], 0)
  const durations = new StatisticsHistogram()
  for (const row of rows) durations.add(row.durations, row.duration_counts)
  const [succeeded, failed] = [sum("succeeded"), sum("failed")]
  return {
    succeeded,
    failed,
    cancelled: sum("cancelled"),
    skipped: sum("skipped"),
    success_rate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
    duration_ms: durations.percentiles
  }
}
