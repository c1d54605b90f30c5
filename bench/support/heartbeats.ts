import { query } from "./database.ts"

/**
 * Inserts this many heartbeat monitors per workspace, with the status `up`, as if they had been
 * pinged. Their deadlines are at even intervals, the first in `firstInMs`.
 */
export const insertHeartbeats = async (
  database: string,
  workspaceIds: ReadonlyArray<string>,
  {
    count,
    firstInMs,
    spreadMs
  }: { readonly count: number; readonly firstInMs: number; readonly spreadMs: number }
): Promise<void> => {
  await query(
    database,
    `WITH made AS (
       INSERT INTO monitors (
         id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at
       )
       SELECT
         gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'heartbeat',
         'Nightly ' || n, '{}', 'up', now(), now(), now()
       FROM generate_series(0, $2::int - 1) AS n
       RETURNING id, workspace_id
     ), placed AS (
       SELECT
         id, workspace_id,
         now() + make_interval(
           secs => ($3::float8 + $4::float8 * (row_number() OVER () - 1) / $2::int) / 1000
         ) AS alert_at
       FROM made
     )
     INSERT INTO heartbeats (
       monitor_id, workspace_id, period_seconds, timezone, grace_seconds, last_ping_at,
       expected_at, alert_at, check_at
     )
     SELECT
       id, workspace_id, 86400, 'UTC', 3600, alert_at - interval '90000 seconds',
       alert_at - interval '3600 seconds', alert_at, alert_at
     FROM placed`,
    [workspaceIds, count, firstInMs, spreadMs]
  )
  await query(database, "VACUUM ANALYZE monitors")
  await query(database, "VACUUM ANALYZE heartbeats")
}
