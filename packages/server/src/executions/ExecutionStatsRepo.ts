import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transactionOf } from "../platform/transaction.ts"
import { firstIdAt, timeOfId } from "../runner/RunId.ts"
import { bounds } from "./Histogram.ts"
import { earliestIdAt, latestIdAt } from "./idRange.ts"

export interface StatsFilter {
  readonly from: Date
  readonly to: Date
  readonly bucket: "hour" | "day"
  readonly task_id?: string | undefined
}

/** A part of what there is to count: rows of one start add up. */
export interface StatsRow {
  readonly start: Date
  readonly queued: number
  readonly running: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly skipped: number
  readonly durations: ReadonlyArray<number>
  readonly duration_counts: ReadonlyArray<number>
  readonly latenesses: ReadonlyArray<number>
  readonly lateness_counts: ReadonlyArray<number>
}

/**
 * Statistics are read from `execution_stats` for whole hours that are complete, and from the rows
 * themselves for the rest. An execution is counted exactly once, by three questions of its row:
 *
 * - Is it `late`? Then it is read as a row, always.
 * - Is its id of the hours that are not rolled up? Then it is read as a row, for now.
 * - Does the time asked for cut through its hour? Then that part of the hour is read as rows.
 * - All others are in `execution_stats`.
 *
 * An hour of ids is rolled up when nothing but late rows can come any more: see `rollUp`.
 */
export class ExecutionStatsRepo extends Context.Service<
  ExecutionStatsRepo,
  {
    readonly list: (
      workspaceId: string,
      filter: StatsFilter
    ) => Effect.Effect<ReadonlyArray<StatsRow>>
    /** Takes in one more hour. False: there is none to take in, or another node does it now. */
    readonly rollUp: Effect.Effect<boolean>
    /** By whole days, as the executions themselves. */
    readonly removeOlderThan: (days: number) => Effect.Effect<void>
  }
>()("@scheduling/server/executions/ExecutionStatsRepo") {
  static readonly layer: Layer.Layer<ExecutionStatsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ExecutionStatsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const union = sql.join("\nUNION ALL\n", false)
      const figures = sql.literal(figureColumns)

      const buckets = sql.literal(bucketColumns)

      return ExecutionStatsRepo.of({
        list: Effect.fn("ExecutionStatsRepo.list")(function* (workspaceId, filter) {
          // A statement of its own: the planner must know the value, or it expects a third of all
          // rows. Hours that are rolled up in between are left out by their `id_hour`.
          const [progress] = yield* sql<{ readonly rolled_up_to: Date }>`
            SELECT rolled_up_to
            FROM execution_stats_progress`
          const rolledUpTo = progress?.rolled_up_to ?? new Date(0)
          const firstId = firstIdAt(rolledUpTo.getTime())
          const { whole, edges } = wholeHours(filter.from, filter.to)
          const { task_id } = filter
          const ofTask = task_id === undefined ? sql.literal("true") : sql`task_id = ${task_id}`

          const rows = (
            from: Date,
            to: Date,
            more: ReadonlyArray<ReturnType<typeof sql.literal>>
          ) => sql`
            SELECT scheduled_for, status, duration_ms, lateness_ms
            FROM executions
            WHERE workspace_id = ${workspaceId}
              AND ${ofTask}
              AND scheduled_for >= ${from}
              AND scheduled_for < ${to}
              AND ${sql.and(more)}`

          return yield* sql<StatsRow>`
            WITH counted AS (
              SELECT start, status, duration, lateness, count(*)::int AS n
              FROM (
                SELECT date_trunc(${filter.bucket}, scheduled_for, 'UTC') AS start, ${buckets}
                FROM (
                  ${union([
                    rows(filter.from, filter.to, [sql`late`]),
                    rows(filter.from, filter.to, [sql`NOT late`, sql`id >= ${firstId}`]),
                    ...edges.map(({ from, to }) =>
                      rows(from, to, [
                        sql`NOT late`,
                        sql`id < ${firstId}`,
                        sql`id >= ${earliestIdAt(from)}`,
                        sql`id < ${latestIdAt(to)}`
                      ])
                    ),
                    sql`
                      SELECT
                        scheduled_for, state, NULL,
                        round(extract(epoch FROM started_at - scheduled_for) * 1000)
                      FROM runs
                      WHERE workspace_id = ${workspaceId}
                        AND ${ofTask}
                        AND scheduled_for >= ${filter.from}
                        AND scheduled_for < ${filter.to}`
                  ])}
                ) AS execution
              ) AS measured
              GROUP BY GROUPING SETS ((start, status), (start, duration), (start, lateness))
            )
            SELECT
              start,
              coalesce(sum(n) FILTER (WHERE status = 'queued'), 0)::int AS queued,
              coalesce(sum(n) FILTER (WHERE status = 'running'), 0)::int AS running,
              ${figures}
            FROM counted
            GROUP BY start
            UNION ALL
            SELECT
              hour, 0, 0, succeeded, failed, cancelled, skipped,
              durations, duration_counts, latenesses, lateness_counts
            FROM execution_stats
            WHERE workspace_id = ${workspaceId}
              AND ${task_id === undefined ? sql.literal("task_id IS NULL") : ofTask}
              AND hour >= ${whole.from}
              AND hour < ${whole.to}
              AND id_hour < ${rolledUpTo}`
        }, Effect.orDie),

        // A row that is not late was recorded by a transaction that began within an hour of its id's
        // time. Ten minutes later that has committed (statements end after 30 seconds), so the rows
        // of an hour are complete, whatever the clocks of the nodes say: both times are the
        // database's, or in the row. Progress is locked, so that one node at a time takes in one
        // hour, and moves in the transaction that writes the figures.
        rollUp: Effect.gen(function* () {
          const [progress] = yield* sql<{ readonly from_ms: number; readonly to_ms: number }>`
            SELECT
              extract(epoch FROM rolled_up_to)::float8 * 1000 AS from_ms,
              extract(epoch FROM date_trunc('hour', now() - interval '70 minutes', 'UTC'))::float8 * 1000
                AS to_ms
            FROM execution_stats_progress
            FOR UPDATE SKIP LOCKED`
          if (progress === undefined || progress.from_ms >= progress.to_ms) return false
          const [oldest] = yield* sql<{ readonly id: string }>`
            SELECT id
            FROM executions
            WHERE id >= ${firstIdAt(progress.from_ms)}
              AND id < ${firstIdAt(progress.to_ms)}
            ORDER BY id
            LIMIT 1`
          const hourMs = oldest === undefined ? progress.to_ms : floorHour(timeOfId(oldest.id))
          const nextMs = oldest === undefined ? progress.to_ms : hourMs + hour
          if (oldest !== undefined) {
            yield* sql`
              INSERT INTO execution_stats (
                workspace_id, task_id, hour, id_hour, succeeded, failed, cancelled, skipped,
                durations, duration_counts, latenesses, lateness_counts
              )
              SELECT workspace_id, task_id, hour, ${new Date(hourMs)}, ${figures}
              FROM (
                SELECT workspace_id, task_id, hour, status, duration, lateness, count(*)::int AS n
                FROM (
                  SELECT
                    workspace_id, task_id, date_trunc('hour', scheduled_for, 'UTC') AS hour, ${buckets}
                  FROM executions
                  WHERE id >= ${firstIdAt(hourMs)}
                    AND id < ${firstIdAt(nextMs)}
                    AND NOT late
                ) AS measured
                GROUP BY
                  workspace_id, hour,
                  GROUPING SETS (task_id, ()),
                  GROUPING SETS (status, duration, lateness)
              ) AS counted
              GROUP BY workspace_id, task_id, hour`
          }
          yield* sql`
            UPDATE execution_stats_progress
            SET rolled_up_to = ${new Date(nextMs)}`
          return oldest !== undefined
        }).pipe(Effect.orDie, transaction, Effect.withSpan("ExecutionStatsRepo.rollUp")),

        removeOlderThan: Effect.fn("ExecutionStatsRepo.removeOlderThan")(function* (days) {
          yield* sql`
            DELETE FROM execution_stats
            WHERE hour < date_trunc('day', now(), 'UTC') - ${days} * interval '1 day'`
        }, Effect.orDie)
      })
    })
  )
}

// ---------------------------------------------------------------------------

const hour = 3_600_000

const floorHour = (ms: number): number => Math.floor(ms / hour) * hour

/** The whole hours of a time, and what is left of it before and after them. */
const wholeHours = (from: Date, to: Date) => {
  const first = Math.ceil(from.getTime() / hour) * hour
  const last = floorHour(to.getTime())
  if (first > last) return { whole: { from, to: from }, edges: [{ from, to }] }
  const whole = { from: new Date(first), to: new Date(last) }
  const edges = [
    { from, to: whole.from },
    { from: whole.to, to }
  ]
  return { whole, edges: edges.filter((edge) => edge.from < edge.to) }
}

const lowerBounds = `'{${bounds.join()}}'::float8[]`

const bucketColumns = `
  status,
  CASE WHEN status IN ('succeeded', 'failed')
    THEN width_bucket(duration_ms::float8, ${lowerBounds})
  END AS duration,
  width_bucket(lateness_ms::float8, ${lowerBounds}) AS lateness`

const figureColumns = `
  coalesce(sum(n) FILTER (WHERE status = 'succeeded'), 0)::int AS succeeded,
  coalesce(sum(n) FILTER (WHERE status = 'failed'), 0)::int AS failed,
  coalesce(sum(n) FILTER (WHERE status = 'cancelled'), 0)::int AS cancelled,
  coalesce(sum(n) FILTER (WHERE status = 'skipped'), 0)::int AS skipped,
  coalesce(array_agg(duration) FILTER (WHERE duration IS NOT NULL), '{}')::smallint[] AS durations,
  coalesce(array_agg(n) FILTER (WHERE duration IS NOT NULL), '{}')::integer[] AS duration_counts,
  coalesce(array_agg(lateness) FILTER (WHERE lateness IS NOT NULL), '{}')::smallint[] AS latenesses,
  coalesce(array_agg(n) FILTER (WHERE lateness IS NOT NULL), '{}')::integer[] AS lateness_counts`
