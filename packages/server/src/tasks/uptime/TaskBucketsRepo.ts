import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CronOrChainRef } from "../TaskRow.ts"
import { runCountsSql } from "./taskBuckets.ts"

/**
 * The finished runs of a task in a bucket of five minutes, an hour or a day. If several rows begin
 * at the same time, their counts are added up.
 */
export interface RunCountsRow {
  readonly starts_at: Date
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly skipped: number
  readonly durations: ReadonlyArray<number>
  readonly duration_counts: ReadonlyArray<number>
}

/**
 * Reads the runs of tasks from `task_buckets`, and runs that are not rolled up yet from their rows.
 */
export class TaskBucketsRepo extends Context.Service<
  TaskBucketsRepo,
  {
    readonly exists: (task: CronOrChainRef) => Effect.Effect<boolean>
    readonly list: (task: CronOrChainRef, from: Date) => Effect.Effect<ReadonlyArray<RunCountsRow>>
  }
>()("@scheduling/server/tasks/uptime/TaskBucketsRepo") {
  static readonly layer: Layer.Layer<TaskBucketsRepo, never, SqlClient.SqlClient> = Layer.effect(
    TaskBucketsRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      TaskBucketsRepo.of({
        exists: Effect.fn("TaskBucketsRepo.exists")(function* ({ id, kind, workspaceId }) {
          const rows = yield* sql`
            SELECT
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = ${kind}
              AND id = ${id}`
          return rows.length > 0
        }, Effect.orDie),

        list: Effect.fn("TaskBucketsRepo.list")(function* ({ id, workspaceId }, from) {
          // The value is read by a separate statement, so that the planner knows it as a constant:
          // see `ExecutionStatsRepo`.
          const [progress] = yield* sql<{ readonly rolled_up_to: string }>`
            SELECT rolled_up_to::text
            FROM execution_stats_progress`
          const isFresh = sql`
            workspace_id = ${workspaceId}
              AND task_id = ${id}
              AND ordinal > ${progress?.rolled_up_to ?? "0"}::bigint
              AND ordinal > (SELECT rolled_up_to FROM execution_stats_progress)`
          return yield* sql<RunCountsRow>`
            SELECT starts_at, succeeded, failed, cancelled, skipped, durations, duration_counts
            FROM task_buckets
            WHERE workspace_id = ${workspaceId}
              AND task_id = ${id}
              AND starts_at >= ${from}
            UNION ALL
            SELECT starts_at, succeeded, failed, cancelled, skipped, durations, duration_counts
            FROM ${runCountsSql(sql, isFresh)} AS fresh
            WHERE starts_at >= ${from}`
        }, Effect.orDie)
      })
    )
  )
}
