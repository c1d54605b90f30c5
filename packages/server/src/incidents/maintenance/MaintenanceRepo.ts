import type { MaintenanceWindow } from "@scheduling/domain/maintenance/MaintenanceWindow"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  type DefinitionColumns,
  namedDefinitionsRepo,
  type NamedDefinitionsRepo
} from "../../accounts/index.ts"
import type { MaintenanceCoverage } from "./MaintenanceCoverage.ts"
import { isMaintenanceInProgress, type MaintenanceTimes } from "./occurrences.ts"

export interface MaintenanceRow
  extends
    DefinitionColumns,
    MaintenanceTimes,
    Pick<MaintenanceWindow, "everything" | "key" | "monitor_ids" | "name" | "tags" | "task_ids"> {}

export class MaintenanceRepo extends Context.Service<
  MaintenanceRepo,
  NamedDefinitionsRepo<MaintenanceRow> & {
    /**
     * Returns the monitors and tasks that are in maintenance now, by workspace. Workspaces without
     * maintenance are omitted.
     */
    readonly findCoverage: (
      workspaceIds: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<ReadonlyMap<string, MaintenanceCoverage>>
  }
>()("@scheduling/server/incidents/maintenance/MaintenanceRepo") {
  static readonly layer: Layer.Layer<MaintenanceRepo, never, SqlClient.SqlClient> = Layer.effect(
    MaintenanceRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      MaintenanceRepo.of({
        ...namedDefinitionsRepo<MaintenanceRow>(sql, "maintenance_windows", "key", {
          key: "text",
          name: "text",
          starts_at: "timestamptz",
          ends_at: "timestamptz",
          schedule: "text",
          timezone: "text",
          duration_seconds: "integer",
          everything: "boolean",
          tags: "text[]",
          monitor_ids: "uuid[]",
          task_ids: "uuid[]"
        }),

        findCoverage: Effect.fn("MaintenanceRepo.findCoverage")(function* (workspaceIds, now) {
          if (workspaceIds.length === 0) return new Map<string, MaintenanceCoverage>()
          const rows = yield* sql<MaintenanceRow>`
            SELECT *
            FROM maintenance_windows
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])
              AND (schedule IS NOT NULL OR (starts_at <= ${now} AND ends_at > ${now}))`
          const active = rows.filter((row) => isMaintenanceInProgress(row, now))
          return new Map(
            [...Map.groupBy(active, ({ workspace_id }) => workspace_id)].map(
              ([workspaceId, own]) => [workspaceId as string, coverageOf(own)] as const
            )
          )
        }, Effect.orDie)
      })
    )
  )
}

const coverageOf = (windows: ReadonlyArray<MaintenanceRow>): MaintenanceCoverage => ({
  everything: windows.some(({ everything }) => everything),
  tags: new Set(windows.flatMap(({ tags }) => tags)),
  ids: new Set(windows.flatMap(({ monitor_ids, task_ids }) => [...monitor_ids, ...task_ids]))
})
