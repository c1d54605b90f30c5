import { Context, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { repeatUntilFewerThan, transactionOf } from "../../store/index.ts"
import { bucketColumns, figureColumns } from "./ExecutionStatsRepo.ts"

/**
 * Rolls up executions into `execution_stats` and, independently, into `usage_days`, in the order of
 * their ordinals. `ExecutionStatsRepo` reads all executions after `rolled_up_to` as rows, and
 * `UsageRepo` all after `counted_up_to`. A node locks the progress for each piece, so only one node
 * rolls up at a time. The progress advances in the transaction that writes the figures.
 */
export class StatsRollUpRepo extends Context.Service<
  StatsRollUpRepo,
  {
    /** Adds the rows that were inserted since the last time to the index of ordinals. */
    readonly indexOrdinals: Effect.Effect<void>
    /** Returns the last ordinal so far, once all executions up to it are visible. */
    readonly settledOrdinal: Effect.Effect<string>
    /**
     * Rolls up the next `size` ordinals, but none after `upTo`. Returns false if nothing is left,
     * or if another node is doing it now.
     */
    readonly takeIn: (piece: {
      readonly upTo: string
      readonly size: number
    }) => Effect.Effect<boolean>
    /**
     * Counts the usage of the next `size` ordinals, but of none after `upTo`. Returns the
     * workspaces whose usage has changed, or undefined if nothing is left to count.
     */
    readonly countUsage: (piece: {
      readonly upTo: string
      readonly size: number
    }) => Effect.Effect<ReadonlyArray<string> | undefined>
    /** The age of the oldest finished execution that is not rolled up yet. */
    readonly lagSeconds: Effect.Effect<number>
    /** Removes the statistics of whole days, as retention does with the executions. */
    readonly removeOlderThan: (days: number) => Effect.Effect<void>
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
        SELECT workspace_id, task_id, hour, ${sql.literal(figureColumns)}
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
          (durations, duration_counts) = (${sql.literal(sumOf("durations", "duration_counts"))}),
          (latenesses, lateness_counts) = (${sql.literal(sumOf("latenesses", "lateness_counts"))})`

      /** Only executions that made a call count as usage. */
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

        // A statement draws an ordinal when it writes, but its rows become visible at its commit,
        // possibly after rows with higher ordinals. Every transaction that has drawn an ordinal so
        // far has a transaction id, or gets one within a second. Once all of these have ended, no
        // row with one of these ordinals can still appear.
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
            // The statement waits for the lock only briefly, because each piece of statistics is
            // short.
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
        }, Effect.orDie)
      })
    })
  )
}

// ---------------------------------------------------------------------------

const endOfPiece = (
  from: string,
  { size, upTo }: { readonly size: number; readonly upTo: string }
): string => {
  const end = BigInt(from) + BigInt(size)
  return end < BigInt(upTo) ? String(end) : upTo
}

const removeBatch = 5_000

/**
 * A histogram with fewer buckets than this is not added up: the buckets of the next piece are
 * appended, even if a bucket then occurs twice.
 */
const addUpFrom = 200

/**
 * SQL that merges two histograms. Adding up costs four times as much as all other work for a task.
 */
const sumOf = (buckets: string, counts: string) => `
  SELECT stats.${buckets} || EXCLUDED.${buckets}, stats.${counts} || EXCLUDED.${counts}
  WHERE cardinality(stats.${buckets}) < ${addUpFrom}
  UNION ALL
  SELECT array_agg(bucket), array_agg(n)
  FROM (
    SELECT bucket, sum(n)::integer AS n
    FROM unnest(
      stats.${buckets} || EXCLUDED.${buckets},
      stats.${counts} || EXCLUDED.${counts}
    ) AS part (bucket, n)
    GROUP BY bucket
  ) AS whole
  HAVING cardinality(stats.${buckets}) >= ${addUpFrom}`
