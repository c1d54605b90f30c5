import type { SqlClient, Statement } from "effect/sql"
import { outcomeColumns, outcomeAggregates } from "../executions/ExecutionStatsRepo.ts"
import { mergeHistogramsSql } from "../executions/mergeHistogramsSql.ts"

/** The length of the shortest buckets in seconds. Runs are first added to these buckets. */
const shortest = 300

/**
 * For each bucket length, the age at which its rows are added to rows of the next length, or
 * removed.
 */
export const taskBucketStages = [
  { seconds: shortest, days: 8, next: 3_600 },
  { seconds: 3_600, days: 92, next: 86_400 },
  { seconds: 86_400, days: 400, next: null }
] as const

const startOf = (seconds: number, time: string) =>
  `date_bin('${seconds} seconds', ${time}, timestamptz 'epoch')`

/**
 * SQL for a table of the runs of cron tasks and chains that ended with an execution that meets the
 * condition. The run of a chain ends with its last execution, provided that no execution is
 * unfinished.
 */
const runsEndedBy = (sql: SqlClient.SqlClient, condition: Statement.Fragment) => sql`(
    SELECT workspace_id, task_id, scheduled_for, status, duration_ms
    FROM executions
    WHERE ${condition}
      AND kind = 'cron'
    UNION ALL
    SELECT last.workspace_id, last.task_id, run.*
    FROM (
      SELECT workspace_id, task_id, chain_run_id, max(ordinal) AS ordinal
      FROM executions
      WHERE ${condition}
        AND kind = 'chain'
      GROUP BY workspace_id, task_id, chain_run_id
    ) AS last
    CROSS JOIN LATERAL (
      SELECT
        min(scheduled_for),
        CASE
          WHEN bool_or(status = 'cancelled') THEN 'cancelled'
          WHEN bool_or(status = 'failed') THEN 'failed'
          WHEN bool_or(id = chain_run_id AND status = 'skipped') THEN 'skipped'
          ELSE 'succeeded'
        END,
        extract(epoch FROM max(finished_at) - min(started_at)) * 1000
      FROM executions
      WHERE workspace_id = last.workspace_id
        AND chain_run_id = last.chain_run_id
        AND id >= last.chain_run_id
      HAVING max(ordinal) = last.ordinal
    ) AS run
    WHERE NOT EXISTS (
        SELECT
        FROM runs
        WHERE runs.workspace_id = last.workspace_id
          AND runs.chain_run_id = last.chain_run_id
      )
  ) AS run (workspace_id, task_id, scheduled_for, status, duration_ms)`

/**
 * SQL that counts the runs that ended with an execution that meets the condition, for each task
 * and period of five minutes.
 */
export const runCountsSql = (sql: SqlClient.SqlClient, condition: Statement.Fragment) => sql`(
  SELECT
    workspace_id, task_id, ${shortest}::integer AS seconds, starts_at,
    ${sql.literal(outcomeAggregates)}
  FROM (
    SELECT workspace_id, task_id, starts_at, status, duration, count(*) AS n
    FROM (
      SELECT
        workspace_id, task_id, ${sql.literal(startOf(shortest, "scheduled_for"))} AS starts_at,
        ${sql.literal(outcomeColumns)}
      FROM ${runsEndedBy(sql, condition)}
    ) AS measured
    GROUP BY workspace_id, task_id, starts_at, GROUPING SETS (status, duration)
  ) AS counted
  GROUP BY workspace_id, task_id, starts_at
)`

const insertCounted = (sql: SqlClient.SqlClient, counted: Statement.Fragment) => sql`
  INSERT INTO task_buckets AS stats (
    workspace_id, task_id, seconds, starts_at, succeeded, failed, cancelled, skipped,
    durations, duration_counts
  )
  SELECT
    workspace_id, task_id, seconds, starts_at, succeeded, failed, cancelled, skipped,
    durations, duration_counts
  FROM ${counted} AS counted
  ON CONFLICT (workspace_id, task_id, starts_at, seconds) DO UPDATE
  SET
    succeeded = stats.succeeded + EXCLUDED.succeeded,
    failed = stats.failed + EXCLUDED.failed,
    cancelled = stats.cancelled + EXCLUDED.cancelled,
    skipped = stats.skipped + EXCLUDED.skipped,
    (durations, duration_counts) = (${sql.literal(mergeHistogramsSql("durations", "duration_counts"))})`

/** Adds the runs that ended with one of the executions between two ordinals. */
export const addRunCounts = (sql: SqlClient.SqlClient, after: string, upTo: string) =>
  insertCounted(
    sql,
    runCountsSql(sql, sql`ordinal > ${after}::bigint AND ordinal <= ${upTo}::bigint`)
  )

/**
 * Moves a batch of rows that began before this time to rows of the next length. Rows of deleted
 * tasks, and rows of the greatest length, are deleted instead. Returns one row for each.
 */
export const rollUpOldBuckets = (
  sql: SqlClient.SqlClient,
  {
    before,
    limit,
    next,
    seconds
  }: {
    readonly before: Date
    readonly limit: number
    readonly next: number | null
    readonly seconds: number
  }
) => sql`
  WITH old AS (
    DELETE FROM task_buckets
    WHERE ctid = ANY (ARRAY (
        SELECT ctid
        FROM task_buckets
        WHERE seconds = ${seconds}
          AND starts_at < ${before}
        LIMIT ${limit}
      ))
    RETURNING *
  ), added AS (
    ${insertCounted(
      sql,
      sql`(
    SELECT
      workspace_id, task_id, ${next}::integer AS seconds, starts_at,
      ${sql.literal(outcomeAggregates)}
    FROM (
      SELECT
        old.workspace_id, old.task_id,
        ${sql.literal(startOf(next ?? seconds, "old.starts_at"))} AS starts_at,
        part.status, part.duration, sum(part.n) AS n
      FROM old
      JOIN tasks ON tasks.workspace_id = old.workspace_id AND tasks.id = old.task_id
      CROSS JOIN LATERAL (
        VALUES
          ('succeeded', NULL::smallint, succeeded),
          ('failed', NULL, failed),
          ('cancelled', NULL, cancelled),
          ('skipped', NULL, skipped)
        UNION ALL
        SELECT NULL, bucket, n
        FROM unnest(durations, duration_counts) AS histogram (bucket, n)
      ) AS part (status, duration, n)
      WHERE ${next}::integer IS NOT NULL
      GROUP BY 1, 2, 3, 4, 5
    ) AS parts
    GROUP BY workspace_id, task_id, starts_at
  )`
    )}
  )
  SELECT
  FROM old`
