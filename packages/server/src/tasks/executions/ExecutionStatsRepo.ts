import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { apiStatus } from "../../engine/index.ts"
import { histogramBounds } from "./StatisticsHistogram.ts"
import { earliestIdAt, latestIdAt } from "./idRange.ts"

export interface ExecutionStatsFilter {
  readonly from: Date
  readonly to: Date
  readonly bucket: "hour" | "day"
  readonly task_id?: string | undefined
}

/**
 * The counts of the bucket that begins at `start`. If several rows have the same `start`, their
 * counts are added up.
 */
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
 * Computes statistics from `execution_stats` for whole hours, and from the rows of `executions` for
 * the rest. Each execution counts exactly once:
 *
 * - An execution whose ordinal is after `rolled_up_to` is read as a row.
 *
 * - If the range begins or ends within an hour, a part of that hour is read as rows. This is the
 *   part inside the range, which is added, or the part outside of it, which is subtracted from the
 *   whole hour, whichever is shorter.
 *
 * - All other executions are in `execution_stats`.
 */
export class ExecutionStatsRepo extends Context.Service<
  ExecutionStatsRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ExecutionStatsFilter
    ) => Effect.Effect<ReadonlyArray<StatsRow>>
  }
>()("@scheduling/server/tasks/executions/ExecutionStatsRepo") {
  static readonly layer: Layer.Layer<ExecutionStatsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ExecutionStatsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const union = sql.join("\nUNION ALL\n", false)
      const figures = sql.literal(statsAggregates)

      const buckets = sql.literal(bucketColumns)

      return ExecutionStatsRepo.of({
        list: Effect.fn("ExecutionStatsRepo.list")(function* (workspaceId, filter) {
          // The value is read by a separate statement, because the planner must know it as a
          // constant. Otherwise it expects a third of all rows. The second statement reads the
          // value again, because executions may be rolled up in between.
          const [progress] = yield* sql<{ readonly rolled_up_to: string }>`
            SELECT rolled_up_to::text
            FROM execution_stats_progress`
          const rolledUpTo = sql`(SELECT rolled_up_to FROM execution_stats_progress)`
          const isFresh = sql`
            ordinal > ${progress?.rolled_up_to ?? "0"}::bigint
              AND ordinal > ${rolledUpTo}`
          const { whole, edges } = wholeHours(filter.from, filter.to)
          const { task_id } = filter
          const ofTask = task_id === undefined ? sql.literal("true") : sql`task_id = ${task_id}`
          const hours = sql`
            FROM execution_stats
            WHERE workspace_id = ${workspaceId}
              AND ${task_id === undefined ? sql.literal("task_id IS NULL") : ofTask}`
          // If retention has already removed an hour, its statistics are missing, so nothing is
          // subtracted from them.
          const isTakenIn = ({ counts, from }: Edge) => sql`
            ordinal <= ${rolledUpTo}
              AND ${counts === 1 ? sql.literal("true") : sql`EXISTS (SELECT ${hours} AND hour = ${floorHour(from)})`}`

          const rows = ({ counts, from, to }: Edge, more: Statement.Fragment) => sql`
            SELECT scheduled_for, status, duration_ms, lateness_ms, ${counts} AS counts
            FROM executions
            WHERE workspace_id = ${workspaceId}
              AND ${ofTask}
              AND scheduled_for >= ${from}
              AND scheduled_for < ${to}
              AND ${more}`
          const rowsOfEdge = (edge: Edge, more: Statement.Fragment) => [
            rows(
              edge,
              sql`
                NOT stray
              AND id >= ${earliestIdAt(edge.from)}
              AND id < ${latestIdAt(edge.to)}
              AND ${more}`
            ),
            rows(edge, sql`stray AND ${more}`)
          ]

          return yield* sql<StatsRow>`
            WITH counted AS (
              SELECT start, status, duration, lateness, sum(counts)::int AS n
              FROM (
                SELECT
                  date_trunc(${filter.bucket}, scheduled_for, 'UTC') AS start, counts, ${buckets}
                FROM (
                  ${union([
                    ...rowsOfEdge({ ...filter, counts: 1 }, isFresh),
                    ...edges.flatMap((edge) => rowsOfEdge(edge, isTakenIn(edge))),
                    sql`
                      SELECT
                        scheduled_for, ${sql.literal(apiStatus())}, NULL,
                        CASE WHEN trigger NOT IN ('rerun', 'backfill')
                          THEN round(extract(epoch FROM started_at - scheduled_for) * 1000)
                        END,
                        1
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
            ${hours}
              AND hour >= ${whole.from}
              AND hour < ${whole.to}`
        }, Effect.orDie)
      })
    })
  )
}

const hour = 3_600_000

const floorHour = (time: Date) => new Date(Math.floor(time.getTime() / hour) * hour)

interface Edge {
  readonly from: Date
  readonly to: Date
  /** 1 if the edge's executions are added to the totals, -1 if they are subtracted. */
  readonly counts: 1 | -1
}

/**
 * Splits a range into whole hours, whose totals are stored, and two edges of at most half an hour,
 * whose executions must be read. The range is rounded to the nearest hours. An edge that the
 * rounding cuts off is added. An edge that the rounding includes, such as the rest of the current
 * hour, is subtracted.
 */
const wholeHours = (from: Date, to: Date) => {
  const first = new Date(Math.round(from.getTime() / hour) * hour)
  const last = new Date(Math.round(to.getTime() / hour) * hour)
  const edges: ReadonlyArray<Edge> =
    first >= last
      ? [{ from, to, counts: 1 }]
      : [
          { from, to: first, counts: 1 },
          { from: first, to: from, counts: -1 },
          { from: last, to, counts: 1 },
          { from: to, to: last, counts: -1 }
        ]
  return {
    whole: first >= last ? { from, to: from } : { from: first, to: last },
    edges: edges.filter((edge) => edge.from < edge.to)
  }
}

const lowerBounds = `'{${histogramBounds.join()}}'::float8[]`

/** SQL columns for an execution's status and the bucket of its duration. */
export const outcomeColumns = `
  status,
  CASE WHEN status IN ('succeeded', 'failed')
    THEN width_bucket(duration_ms::float8, ${lowerBounds})
  END AS duration`

/** SQL columns for the status of a row of `executions` and the buckets of its times. */
export const bucketColumns = `${outcomeColumns},
  width_bucket(lateness_ms::float8, ${lowerBounds}) AS lateness`

/**
 * SQL that aggregates rows, each with a number of executions and with a status or the bucket of a
 * duration.
 */
export const outcomeAggregates = `
  coalesce(sum(n) FILTER (WHERE status = 'succeeded'), 0)::int AS succeeded,
  coalesce(sum(n) FILTER (WHERE status = 'failed'), 0)::int AS failed,
  coalesce(sum(n) FILTER (WHERE status = 'cancelled'), 0)::int AS cancelled,
  coalesce(sum(n) FILTER (WHERE status = 'skipped'), 0)::int AS skipped,
  coalesce(array_agg(duration) FILTER (WHERE duration IS NOT NULL), '{}')::smallint[] AS durations,
  coalesce(array_agg(n) FILTER (WHERE duration IS NOT NULL), '{}')::integer[] AS duration_counts`

/**
 * SQL that aggregates rows, each with a number of executions and with a status or a bucket, into a
 * row of `execution_stats`.
 */
export const statsAggregates = `${outcomeAggregates},
  coalesce(array_agg(lateness) FILTER (WHERE lateness IS NOT NULL), '{}')::smallint[] AS latenesses,
  coalesce(array_agg(n) FILTER (WHERE lateness IS NOT NULL), '{}')::integer[] AS lateness_counts`
