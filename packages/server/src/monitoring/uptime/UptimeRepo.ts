import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { columnsOf, repeatUntilFewerThan } from "../../store/index.ts"
import type { StoredStatus } from "../MonitorTable.ts"

/** A span of time in which a monitor had one status. */
export interface StatusSpan {
  readonly monitor_id: string
  readonly status: StoredStatus
  /**
   * The beginning of the span. Null if the span began with the last stored status change of the
   * monitor.
   */
  readonly from: number | null
  readonly to: number
}

/** A monitor, with its status since `changed_at`. */
export interface CurrentMonitorStatus {
  readonly created_at: Date
  readonly changed_at: Date
  readonly status: StoredStatus
}

export interface UptimeBucketRow {
  readonly monitor_id: string
  readonly starts_at: Date
  readonly checks: number
  readonly failed_checks: number
  readonly down_ms: number
  readonly unwatched_ms: number
  readonly latencies: ReadonlyArray<number> | null
}

/**
 * The lengths of the buckets in seconds, and the number of days for which buckets of each length
 * are kept.
 */
const kept = [
  { seconds: 300, days: 8 },
  { seconds: 3_600, days: 92 },
  { seconds: 86_400, days: 400 }
] as const

/** SQL for a table of the bucket lengths, and of how many days each is kept. */
export const uptimeBucketWidthsSql = `(
  VALUES ${kept.map(({ days, seconds }) => `(${seconds}, ${days})`).join(", ")}
) AS width (seconds, days)`

/** SQL that adds the inserted totals to an existing bucket. */
export const addToUptimeBucketSql = `
  ON CONFLICT (monitor_id, seconds, starts_at) DO UPDATE
  SET
    checks = uptime_buckets.checks + excluded.checks,
    failed_checks = uptime_buckets.failed_checks + excluded.failed_checks,
    down_ms = uptime_buckets.down_ms + excluded.down_ms,
    unwatched_ms = uptime_buckets.unwatched_ms + excluded.unwatched_ms,
    latencies = CASE
      WHEN excluded.latencies IS NULL THEN uptime_buckets.latencies
      WHEN uptime_buckets.latencies IS NULL THEN excluded.latencies
      ELSE (
        SELECT array_agg(before + added ORDER BY position)
        FROM unnest(uptime_buckets.latencies, excluded.latencies) WITH ORDINALITY
          AS counts (before, added, position)
      )
    END`

export class UptimeRepo extends Context.Service<
  UptimeRepo,
  {
    /**
     * Adds spans in which monitors were down or not watched to the buckets that they overlap. Call
     * it before the new statuses are written.
     */
    readonly addSpans: (spans: ReadonlyArray<StatusSpan>) => Effect.Effect<void>
    readonly findMonitors: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<CurrentMonitorStatus & { readonly id: string }>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      seconds: number,
      from: Date
    ) => Effect.Effect<ReadonlyArray<UptimeBucketRow>>
    readonly removeOld: (now: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/uptime/UptimeRepo") {
  static readonly layer: Layer.Layer<UptimeRepo, never, SqlClient.SqlClient> = Layer.effect(
    UptimeRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      UptimeRepo.of({
        addSpans: Effect.fn("UptimeRepo.addSpans")(function* (spans) {
          const counted = spans.filter(({ status }) => status !== "up" && status !== "warning")
          if (counted.length === 0) return
          yield* addSpans(sql, counted)
        }, Effect.orDie),

        findMonitors: Effect.fn("UptimeRepo.findMonitors")(function* (workspaceId, ids) {
          return yield* sql<CurrentMonitorStatus & { readonly id: string }>`
            SELECT id, created_at, changed_at, status
            FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND id = ANY(${ids}::uuid[])`
        }, Effect.orDie),

        list: Effect.fn("UptimeRepo.list")(function* (workspaceId, ids, seconds, from) {
          return yield* sql<UptimeBucketRow>`
            SELECT monitor_id, starts_at, checks, failed_checks, down_ms, unwatched_ms, latencies
            FROM uptime_buckets
            WHERE workspace_id = ${workspaceId}
              AND monitor_id = ANY(${ids}::uuid[])
              AND seconds = ${seconds}
              AND starts_at >= ${from}
            ORDER BY starts_at`
        }, Effect.orDie),

        removeOld: Effect.fn("UptimeRepo.removeOld")(function* (now) {
          for (const { days, seconds } of kept) {
            const before = new Date(now.getTime() - days * 86_400_000)
            yield* repeatUntilFewerThan(batch, removeSome(sql, seconds, before))
          }
        }, Effect.orDie)
      })
    )
  )
}

const batch = 5_000

const removeSome = (sql: SqlClient.SqlClient, seconds: number, before: Date) =>
  sql`
    DELETE FROM uptime_buckets
    WHERE (monitor_id, seconds, starts_at) IN (
      SELECT monitor_id, seconds, starts_at
      FROM uptime_buckets
      WHERE seconds = ${seconds}
        AND starts_at < ${before}
      LIMIT ${batch}
    )
    RETURNING monitor_id`

/**
 * Sums the rows of each monitor and bucket first, because one statement may not write a row twice.
 */
const addSpans = (
  sql: SqlClient.SqlClient,
  spans: ReadonlyArray<StatusSpan>
): Statement.Statement<object> => {
  const column = columnsOf(spans)
  return sql`
    INSERT INTO uptime_buckets (
      monitor_id, workspace_id, seconds, starts_at, down_ms, unwatched_ms
    )
    SELECT
      id, workspace_id, seconds, starts_at,
      coalesce(sum(ms) FILTER (WHERE was = 'down'), 0),
      coalesce(sum(ms) FILTER (WHERE was <> 'down'), 0)
    FROM (
      SELECT
        m.id, m.workspace_id, span.status AS was, width.seconds, bucket.starts_at,
        date_part(
          'epoch',
          least(span.ends_at, bucket.starts_at + width.seconds * interval '1 second')
            - greatest(coalesce(span.begins_at, m.changed_at), bucket.starts_at)
        ) * 1000 AS ms
      FROM (
        SELECT monitor_id, status, to_timestamp(begins / 1000) AS begins_at, to_timestamp(ends / 1000) AS ends_at
        FROM unnest(
          ${column("uuid", ({ monitor_id }) => monitor_id)},
          ${column("text", ({ status }) => status)},
          ${column("float8", ({ from }) => from)},
          ${column("float8", ({ to }) => to)}
        ) AS given (monitor_id, status, begins, ends)
      ) AS span
      JOIN monitors AS m ON m.id = span.monitor_id
      CROSS JOIN ${sql.literal(uptimeBucketWidthsSql)}
      CROSS JOIN LATERAL generate_series(
        to_timestamp(
          floor(
            date_part(
              'epoch',
              greatest(
                coalesce(span.begins_at, m.changed_at),
                span.ends_at - width.days * interval '1 day'
              )
            ) / width.seconds
          ) * width.seconds
        ),
        span.ends_at,
        width.seconds * interval '1 second'
      ) AS bucket (starts_at)
    ) AS parts
    WHERE ms > 0
    GROUP BY id, workspace_id, seconds, starts_at
    ORDER BY id, seconds, starts_at
    ${sql.literal(addToUptimeBucketSql)}`
}
