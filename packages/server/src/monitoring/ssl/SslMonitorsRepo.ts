import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dueMonitors, type CheckLeaseOptions } from "../dueMonitors.ts"
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
      options: CheckLeaseOptions & { readonly until: Date }
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
            WITH ${dueMonitors(sql, "ssl_monitors", now, options)}
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
