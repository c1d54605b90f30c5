import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { selectedMonitorColumns, type MonitorTableRepo, monitorTableRepo } from "../MonitorTable.ts"
import {
  type JoinedReport,
  type ProcessColumns,
  type ProcessRow,
  processTable
} from "./ProcessRow.ts"

export class ProcessMonitorsRepo extends Context.Service<
  ProcessMonitorsRepo,
  MonitorTableRepo<ProcessRow, ProcessColumns, JoinedReport> & {
    /** Locks these monitors, except paused ones. */
    readonly findManyForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<ProcessRow>>
    /** Makes these monitors due now, except paused ones. */
    readonly updateDue: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<void>
    /** Returns whether the worker exists, and prevents its deletion until the transaction ends. */
    readonly hasWorker: (
      workspaceId: AuthorizedWorkspaceId,
      workerId: string
    ) => Effect.Effect<boolean>
  }
>()("@scheduling/server/monitoring/process/ProcessMonitorsRepo") {
  static readonly layer: Layer.Layer<ProcessMonitorsRepo, never, SqlClient.SqlClient> =
    Layer.effect(
      ProcessMonitorsRepo,
      Effect.map(SqlClient.SqlClient, (sql) => {
        const columns = sql.literal(selectedMonitorColumns(processTable))
        const joined = sql.literal(`
          FROM process_monitors AS k
          JOIN monitors AS m ON m.id = k.monitor_id`)
        return ProcessMonitorsRepo.of({
          ...monitorTableRepo<ProcessRow, ProcessColumns, JoinedReport>(sql, processTable),

          findManyForUpdate: Effect.fn("ProcessMonitorsRepo.findManyForUpdate")(function* (
            workspaceId,
            ids
          ) {
            return yield* sql<ProcessRow>`
              SELECT ${columns}
              ${joined}
              WHERE k.workspace_id = ${workspaceId}
                AND k.monitor_id = ANY (${ids}::uuid[])
                AND m.status <> 'paused'
              ORDER BY k.monitor_id
              FOR UPDATE OF k, m`
          }, Effect.orDie),

          updateDue: Effect.fn("ProcessMonitorsRepo.updateDue")(function* (workspaceId, ids, now) {
            yield* sql`
              UPDATE process_monitors
              SET check_at = ${now}
              FROM (
                SELECT k.monitor_id
                ${joined}
                WHERE k.workspace_id = ${workspaceId}
                  AND k.monitor_id = ANY (${ids}::uuid[])
                  AND (k.check_at IS NULL OR k.check_at > ${now})
                  AND m.status <> 'paused'
                ORDER BY k.monitor_id
                FOR UPDATE OF k
              ) AS due
              WHERE process_monitors.workspace_id = ${workspaceId}
                AND process_monitors.monitor_id = due.monitor_id`
          }, Effect.orDie),

          hasWorker: Effect.fn("ProcessMonitorsRepo.hasWorker")(function* (workspaceId, workerId) {
            const rows = yield* sql`
              SELECT id
              FROM workers
              WHERE workspace_id = ${workspaceId}
                AND id = ${workerId}
              FOR KEY SHARE`
            return rows.length > 0
          }, Effect.orDie)
        })
      })
    )
}
