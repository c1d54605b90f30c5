import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { selectedMonitorColumns, type MonitorTableRepo, monitorTableRepo } from "../MonitorTable.ts"
import { type SslColumns, type SslRow, sslTable } from "./SslRow.ts"

export class SslMonitorsRepo extends Context.Service<
  SslMonitorsRepo,
  MonitorTableRepo<SslRow, SslColumns, unknown> & {
    /**
     * Leases due monitors until the given time, but only a few per workspace, so that one
     * workspace's unresponsive servers do not delay the others.
     */
    readonly lease: (
      now: Date,
      options: {
        readonly limit: number
        readonly ofWorkspace: number
        readonly until: Date
        /** Workspaces that have reached their limit of concurrent checks. */
        readonly busy: ReadonlyArray<string>
      }
    ) => Effect.Effect<ReadonlyArray<SslRow>>
  }
>()("@scheduling/server/monitoring/ssl/SslMonitorsRepo") {
  static readonly layer: Layer.Layer<SslMonitorsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SslMonitorsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const columns = sql.literal(selectedMonitorColumns(sslTable))
      return SslMonitorsRepo.of({
        ...monitorTableRepo<SslRow, SslColumns>(sql, sslTable),

        lease: Effect.fn("SslMonitorsRepo.lease")(function* (now, options) {
          return yield* sql<SslRow>`
            WITH due AS (
              SELECT monitor_id, workspace_id, check_at
              FROM ssl_monitors
              WHERE check_at <= ${now}
                AND workspace_id <> ALL (${options.busy}::uuid[])
              ORDER BY check_at
              LIMIT ${maxRead}
            ), ranked AS (
              SELECT
                monitor_id,
                check_at,
                row_number() OVER (PARTITION BY workspace_id ORDER BY check_at) AS position
              FROM due
            ), chosen AS MATERIALIZED (
              SELECT ssl_monitors.monitor_id
              FROM ssl_monitors
              WHERE check_at <= ${now}
                AND monitor_id IN (
                  SELECT monitor_id
                  FROM ranked
                  WHERE position <= ${options.ofWorkspace}
                  ORDER BY position, check_at
                  LIMIT ${options.limit}
                )
              FOR UPDATE SKIP LOCKED
            )
            UPDATE ssl_monitors AS k
            SET check_at = ${options.until}, version = k.version + 1
            FROM monitors AS m
            WHERE k.monitor_id IN (SELECT chosen.monitor_id FROM chosen)
              AND m.id = k.monitor_id
            RETURNING ${columns}`
        }, Effect.orDie)
      })
    })
  )
}

/**
 * The maximum number of due monitors that one call considers. If there are more, the next call
 * reads the rest.
 */
const maxRead = 5_000
