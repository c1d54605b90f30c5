import type { SqlClient, Statement } from "effect/sql"

export interface CheckLeaseOptions {
  readonly limit: number
  readonly ofWorkspace: number
  /** Workspaces that have reached their limit of concurrent checks. */
  readonly busy: ReadonlyArray<string>
}

/**
 * SQL for `WITH` that locks due monitors of a table as `chosen`, but only a few per workspace, so
 * that one workspace's unresponsive servers do not delay the others.
 */
export const dueMonitors = (
  sql: SqlClient.SqlClient,
  table: "checked_monitors" | "ssl_monitors",
  now: Date,
  { busy, limit, ofWorkspace }: CheckLeaseOptions
): Statement.Fragment => sql`
  due AS (
    SELECT monitor_id, workspace_id, check_at
    FROM ${sql(table)}
    WHERE check_at <= ${now}
      AND workspace_id <> ALL (${busy}::uuid[])
    ORDER BY check_at
    LIMIT ${maxRead}
  ), ranked AS (
    SELECT
      monitor_id,
      check_at,
      row_number() OVER (PARTITION BY workspace_id ORDER BY check_at) AS position
    FROM due
  ), chosen AS MATERIALIZED (
    SELECT monitor_id
    FROM ${sql(table)}
    WHERE check_at <= ${now}
      AND monitor_id IN (
        SELECT monitor_id
        FROM ranked
        WHERE position <= ${ofWorkspace}
        ORDER BY position, check_at
        LIMIT ${limit}
      )
    FOR UPDATE SKIP LOCKED
  )`

/**
 * The maximum number of due monitors that one call considers. If there are more, the next call
 * reads the rest.
 */
const maxRead = 5_000
