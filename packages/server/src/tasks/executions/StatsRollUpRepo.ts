import { Context, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs } from "../../core/index.ts"
import { repeatUntilFewerThan, transactionOf } from "../../store/index.ts"
import { addRunCounts, rollUpOldBuckets, taskBucketStages } from "../uptime/taskBuckets.ts"
import { bucketColumns, statsAggregates } from "./ExecutionStatsRepo.ts"
import { mergeHistogramsSql } from "./mergeHistogramsSql.ts"

/**
 * Rolls up executions into `execution_stats` and `task_buckets` and, independently, into
 * `usage_days`, in the order of their ordinals. `ExecutionStatsRepo` and `TaskBucketsRepo` read all
 * executions after `rolled_up_to` as rows, and `UsageRepo` reads all after `counted_up_to`. A node
 * locks the progress for each piece, so only one node rolls up at a time. The progress advances in
 * the transaction that writes the totals.
 */
export class StatsRollUpRepo extends Context.Service<
  StatsRollUpRepo,
  {
    /** Adds the rows that were inserted since the previous call to the index of ordinals. */
    readonly indexOrdinals: Effect.Effect<void>
    /**
     * Waits until all executions with an ordinal drawn so far have become visible, and returns the
     * highest of these ordinals.
     */
    readonly settledOrdinal: Effect.Effect<string>
    /**
     * Rolls up the next `size` ordinals, but none after `upTo`. Returns false if no ordinal is
     * left, or if another node is rolling up.
     */
    readonly takeIn: (piece: {
      readonly upTo: string
      readonly size: number
    }) => Effect.Effect<boolean>
    /**
     * Counts the usage of the next `size` ordinals, but of none after `upTo`. Returns the
     * workspaces whose usage has changed, or undefined if no ordinal is left.
     */
    readonly countUsage: (piece: {
      readonly upTo: string
      readonly size: number
    }) => Effect.Effect<ReadonlyArray<string> | undefined>
    /** The age of the oldest finished execution that is not rolled up yet. */
    readonly lagSeconds: Effect.Effect<number>
    /** Removes the statistics of whole days, just as retention removes executions. */
    readonly removeOlderThan: (days: number) => Effect.Effect<void>
    /**
     * Adds old rows of `task_buckets` to longer buckets, and removes the oldest ones. Does nothing
     * while another node rolls up.
     */
    readonly moveOldBuckets: (now: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/tasks/executions/StatsRollUpRepo") {
  static readonly layer: Layer.Layer<StatsRollUpRepo, never, SqlClient.SqlClient> = Layer.effect(
    StatsRollUpRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)

      const lockProgress = Effect.map(
        sql<{ readonly rolled_up_to: string }>`
          SELECT rolled_up_to::text
          FROM execution_stats_progress
          FOR UPDATE SKIP LOCKED`,
        ([progress]) => Option.fromNullishOr(progress?.rolled_up_to)
      )

      const insertPiece = (from: string, to: string) => sql`
        INSERT INTO execution_stats AS stats (
          workspace_id, task_id, hour, succeeded, failed, cancelled, skipped,
          durations, duration_counts, latenesses, lateness_counts
        )
        SELECT workspace_id, task_id, hour, ${sql.literal(statsAggregates)}
        FROM (
          SELECT workspace_id, task_id, hour, status, duration, lateness, count(*)::int AS n
          FROM (
            SELECT
              workspace_id, task_id, date_trunc('hour', scheduled_for, 'UTC') AS hour,
              ${sql.literal(bucketColumns)}
            FROM executions
            WHERE ordinal > ${from}::bigint
              AND ordinal <= ${to}::bigint
          ) AS measured
          GROUP BY
            workspace_id, hour,
            GROUPING SETS (task_id, ()),
            GROUPING SETS (status, duration, lateness)
        ) AS counted
        GROUP BY workspace_id, task_id, hour
        ON CONFLICT (workspace_id, task_id, hour) DO UPDATE
        SET
          succeeded = stats.succeeded + EXCLUDED.succeeded,
          failed = stats.failed + EXCLUDED.failed,
          cancelled = stats.cancelled + EXCLUDED.cancelled,
          skipped = stats.skipped + EXCLUDED.skipped,
          (durations, duration_counts) = (${sql.literal(mergeHistogramsSql("durations", "duration_counts"))}),
          (latenesses, lateness_counts) = (${sql.literal(mergeHistogramsSql("latenesses", "lateness_counts"))})`

      /** SQL that adds executions to the usage. Only executions that made a call count. */
      const insertUsage = (from: string, to: string) => sql<{ readonly workspace_id: string }>`
        INSERT INTO usage_days AS used (workspace_id, day, executions)
        SELECT workspace_id, (finished_at AT TIME ZONE 'UTC')::date AS day, count(*)
        FROM executions
        WHERE ordinal > ${from}::bigint
          AND ordinal <= ${to}::bigint
          AND attempts_count > 0
        GROUP BY workspace_id, day
        ORDER BY workspace_id, day
        ON CONFLICT (workspace_id, day) DO UPDATE
        SET executions = used.executions + EXCLUDED.executions
        RETURNING workspace_id`

      return StatsRollUpRepo.of({
        // Vacuum does this too, but only after a fifth of a day's rows are new.
        indexOrdinals: sql`
          SELECT brin_summarize_new_values(inhrelid)
          FROM pg_inherits
          WHERE inhparent = 'executions_by_ordinal'::regclass`.pipe(
          Effect.asVoid,
          Effect.orDie,
          Effect.withSpan("StatsRollUpRepo.indexOrdinals")
        ),

        // A statement draws an ordinal when it writes a row, but the row becomes visible only at
        // the commit, possibly after rows with higher ordinals. Every transaction that has drawn an
        // ordinal so far has a transaction id, or receives one within a second. Once all these
        // transactions have ended, no further row with one of these ordinals can appear.
        settledOrdinal: Effect.gen(function* () {
          const [last] = yield* sql<{ readonly ordinal: string }>`
            SELECT coalesce(pg_sequence_last_value('execution_ordinals'), 0)::text AS ordinal`
          yield* Effect.sleep("1 second")
          const [next] = yield* sql<{ readonly xid: string }>`
            SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid`
          if (last === undefined || next === undefined) return "0"
          yield* sql<{ readonly have_ended: boolean }>`
            SELECT pg_snapshot_xmin(pg_current_snapshot()) >= ${next.xid}::xid8 AS have_ended`.pipe(
            Effect.filterOrFail(
              ([answer]) => answer?.have_ended === true,
              () => new Error("a transaction on this server has been writing for ten minutes")
            ),
            Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 3_000 })
          )
          return last.ordinal
        }).pipe(Effect.orDie, Effect.withSpan("StatsRollUpRepo.settledOrdinal")),

        takeIn: Effect.fn("StatsRollUpRepo.takeIn")(
          function* ({ size, upTo }) {
            const from = yield* lockProgress
            if (Option.isNone(from) || BigInt(from.value) >= BigInt(upTo)) return false
            const to = endOfPiece(from.value, { size, upTo })
            yield* insertPiece(from.value, to)
            yield* addRunCounts(sql, from.value, to)
            yield* sql`
              UPDATE execution_stats_progress
              SET rolled_up_to = ${to}::bigint`
            return true
          },
          Effect.orDie,
          transaction
        ),

        countUsage: Effect.fn("StatsRollUpRepo.countUsage")(
          function* ({ size, upTo }) {
            // The lock is held only briefly, because each piece of statistics is short.
            const [progress] = yield* sql<{ readonly counted_up_to: string }>`
              SELECT counted_up_to::text
              FROM execution_stats_progress
              FOR UPDATE`
            const from = progress?.counted_up_to
            if (from === undefined || BigInt(from) >= BigInt(upTo)) return undefined
            const to = endOfPiece(from, { size, upTo })
            const rows = yield* insertUsage(from, to)
            yield* sql`
              UPDATE execution_stats_progress
              SET counted_up_to = ${to}::bigint`
            return [...new Set(rows.map(({ workspace_id }) => workspace_id))]
          },
          Effect.orDie,
          transaction
        ),

        lagSeconds: sql<{ readonly seconds: number }>`
          SELECT greatest(0, round(extract(epoch FROM now() - finished_at)))::int AS seconds
          FROM executions
          WHERE ordinal > (SELECT rolled_up_to FROM execution_stats_progress)
          ORDER BY ordinal
          LIMIT 1`.pipe(
          Effect.map(([oldest]) => oldest?.seconds ?? 0),
          Effect.orDie,
          Effect.withSpan("StatsRollUpRepo.lagSeconds")
        ),

        removeOlderThan: Effect.fn("StatsRollUpRepo.removeOlderThan")(function* (days) {
          yield* repeatUntilFewerThan(
            removeBatch,
            sql`
              DELETE FROM execution_stats
              WHERE ctid = ANY (ARRAY (
                  SELECT ctid
                  FROM execution_stats
                  WHERE hour < date_trunc('day', now(), 'UTC') - ${days} * interval '1 day'
                  LIMIT ${removeBatch}
                  FOR UPDATE SKIP LOCKED
                ))
              RETURNING hour`
          )
        }, Effect.orDie),

        moveOldBuckets: Effect.fn("StatsRollUpRepo.moveOldBuckets")(function* (now) {
          for (const { days, next, seconds } of taskBucketStages) {
            const before = startOfDay(now.getTime() - days * dayMs)
            yield* repeatUntilFewerThan(
              moveBatch,
              Effect.flatMap(
                lockProgress,
                Option.match({
                  onNone: () => Effect.succeed([]),
                  onSome: () => rollUpOldBuckets(sql, { before, limit: moveBatch, next, seconds })
                })
              ).pipe(transaction)
            )
          }
        }, Effect.orDie)
      })
    })
  )
}

const endOfPiece = (
  from: string,
  { size, upTo }: { readonly size: number; readonly upTo: string }
): string => {
  const end = BigInt(from) + BigInt(size)
  return end < BigInt(upTo) ? String(end) : upTo
}

const removeBatch = 5_000
const moveBatch = 2_000

const startOfDay = (ms: number) => new Date(Math.floor(ms / dayMs) * dayMs)
