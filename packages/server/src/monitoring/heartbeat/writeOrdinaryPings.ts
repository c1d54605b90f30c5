import type { SqlClient } from "effect/sql"
import { variableLengthColumns } from "../../store/index.ts"
import type { PingBodyOwner } from "./PingBodyBudget.ts"
import type { PingDetails } from "./heartbeatEvents.ts"

/** A successful ping without a `rid`. `at` is a time of the database clock. */
export interface OrdinaryPing {
  readonly ping_hash: string
  readonly at: Date
  /** Undefined if the ping is not listed as an event. */
  readonly event: { readonly id: string; readonly details: PingDetails | null } | undefined
}

/**
 * Writes ordinary pings with one statement and without a decision. A ping is ordinary if it reports
 * success and arrives in time, and its monitor is `up` and has a period and no unfinished run.
 * Nearly all pings are. The statement writes what `decideHeartbeat` would decide, and returns which
 * pings it wrote. It skips rows that are locked or have changed since it began. Bodies of the
 * workspaces in `bodiless` are dropped.
 */
export const writeOrdinaryPings = (
  sql: SqlClient.SqlClient,
  pings: ReadonlyArray<OrdinaryPing>,
  bodiless: ReadonlyArray<string>
) => {
  const column = variableLengthColumns(sql, pings)
  return sql<PingBodyOwner & { readonly ping_hash: string }>`
    WITH input AS (
      SELECT ping_hash, at, event_id, details::jsonb
      FROM unnest(
        ${column("text", ({ ping_hash }) => ping_hash)},
        ${column("timestamptz", ({ at }) => at)},
        ${column("uuid", ({ event }) => event?.id)},
        ${column("text", ({ event }) => event?.details && JSON.stringify(event.details))}
      ) AS ping (ping_hash, at, event_id, details)
    ), ordinary AS MATERIALIZED (
      SELECT
        input.*, h.monitor_id, h.workspace_id, h.version, ping_urls.lane,
        h.period_seconds * interval '1 second' AS period,
        h.grace_seconds * interval '1 second' AS grace
      FROM input
      JOIN ping_urls ON ping_urls.ping_hash = input.ping_hash
      JOIN heartbeats AS h ON h.monitor_id = ping_urls.monitor_id
      JOIN monitors AS m ON m.id = h.monitor_id
      WHERE m.status = 'up'
        AND h.period_seconds IS NOT NULL
        AND h.min_interval_seconds IS NULL
        AND h.runs = '[]'
        AND input.at <= h.alert_at
        AND input.at >= greatest(m.changed_at, h.began_at, h.last_ping_at)
    ), mine AS MATERIALIZED (
      SELECT h.ctid AS row_position, ordinary.*
      FROM ordinary
      JOIN heartbeats AS h
        ON h.monitor_id = ordinary.monitor_id
        AND h.version = ordinary.version
      ORDER BY h.monitor_id
      FOR NO KEY UPDATE OF h SKIP LOCKED
    ), updated AS (
      UPDATE heartbeats AS h
      SET
        version = h.version + 1,
        last_ping_at = mine.at,
        began_at = mine.at,
        last_rid = NULL,
        expected_at = mine.at + mine.period,
        alert_at = mine.at + mine.period + mine.grace,
        check_at = least(h.check_at, mine.at + mine.period + mine.grace)
      FROM mine
      WHERE h.ctid = mine.row_position
      RETURNING mine.*
    ), recorded AS (
      INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at, details)
      SELECT
        event_id, workspace_id, monitor_id, 'success', 'up', at,
        CASE
          WHEN workspace_id = ANY (${bodiless}::uuid[]) AND details ? 'body'
            THEN details - 'body' || '{"body_dropped": true}'
          ELSE details
        END
      FROM updated
      WHERE event_id IS NOT NULL
    )
    SELECT ping_hash, workspace_id, lane
    FROM updated`
}
