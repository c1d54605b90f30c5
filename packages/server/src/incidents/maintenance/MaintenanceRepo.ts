import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MaintenanceWindow } from "@scheduling/domain/maintenance/MaintenanceWindow"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { DefinitionColumns } from "../../accounts/index.ts"
import { orWorkspaceNotFound, type PageRequest } from "../../store/index.ts"
import type { MaintenanceCoverage } from "./MaintenanceCoverage.ts"
import { isMaintenanceInProgress, type MaintenanceTimes } from "./occurrences.ts"

export interface MaintenanceRow
  extends
    DefinitionColumns,
    MaintenanceTimes,
    Pick<MaintenanceWindow, "everything" | "key" | "monitor_ids" | "name" | "tags" | "task_ids"> {}

export class MaintenanceRepo extends Context.Service<
  MaintenanceRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<MaintenanceRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<MaintenanceRow>>
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<MaintenanceRow>>
    readonly count: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
    /**
     * Inserts the window. Returns false if a concurrent request has just inserted one with the same
     * key.
     */
    readonly insert: (window: MaintenanceRow) => Effect.Effect<boolean, NotFound>
    readonly update: (window: MaintenanceRow) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, key: string) => Effect.Effect<void>
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
    Effect.map(SqlClient.SqlClient, (sql) => {
      const find = Effect.fn("MaintenanceRepo.find")(function* (
        workspaceId: AuthorizedWorkspaceId,
        key: string,
        lock: Statement.Fragment
      ) {
        const rows = yield* sql<MaintenanceRow>`
          SELECT *
          FROM maintenance_windows
          WHERE workspace_id = ${workspaceId}
            AND key = ${key}
          ${lock}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      return MaintenanceRepo.of({
        list: Effect.fn("MaintenanceRepo.list")(function* (workspaceId, page) {
          return yield* sql<MaintenanceRow>`
            SELECT *
            FROM maintenance_windows
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        find: (workspaceId, key) => find(workspaceId, key, sql``),

        findForUpdate: (workspaceId, key) => find(workspaceId, key, sql`FOR UPDATE`),

        count: Effect.fn("MaintenanceRepo.count")(function* (workspaceId) {
          const rows = yield* sql<{ readonly count: number }>`
            SELECT count(*)::int4 AS count
            FROM maintenance_windows
            WHERE workspace_id = ${workspaceId}`
          return rows[0]?.count ?? 0
        }, Effect.orDie),

        insert: Effect.fn("MaintenanceRepo.insert")(function* (row) {
          const rows = yield* sql`
            INSERT INTO maintenance_windows (
              id, workspace_id, key, version, name, starts_at, ends_at, schedule, timezone,
              duration_seconds, everything, tags, monitor_ids, task_ids, created_by, created_at,
              updated_at
            )
            VALUES (
              ${row.id}, ${row.workspace_id}, ${row.key}, ${row.version}, ${row.name},
              ${row.starts_at}, ${row.ends_at}, ${row.schedule}, ${row.timezone},
              ${row.duration_seconds}, ${row.everything}, ${row.tags}::text[],
              ${row.monitor_ids}::uuid[], ${row.task_ids}::uuid[],
              ${JSON.stringify(row.created_by)}::jsonb, ${row.created_at}, ${row.updated_at}
            )
            ON CONFLICT (workspace_id, key) DO NOTHING
            RETURNING id`
          return rows.length > 0
        }, orWorkspaceNotFound),

        update: Effect.fn("MaintenanceRepo.update")(function* (row) {
          yield* sql`
            UPDATE maintenance_windows
            SET
              version = ${row.version},
              name = ${row.name},
              starts_at = ${row.starts_at},
              ends_at = ${row.ends_at},
              schedule = ${row.schedule},
              timezone = ${row.timezone},
              duration_seconds = ${row.duration_seconds},
              everything = ${row.everything},
              tags = ${row.tags}::text[],
              monitor_ids = ${row.monitor_ids}::uuid[],
              task_ids = ${row.task_ids}::uuid[],
              updated_by = ${JSON.stringify(row.updated_by)}::jsonb,
              updated_at = ${row.updated_at}
            WHERE workspace_id = ${row.workspace_id}
              AND id = ${row.id}`
        }, Effect.orDie),

        remove: Effect.fn("MaintenanceRepo.remove")(function* (workspaceId, key) {
          yield* sql`
            DELETE FROM maintenance_windows
            WHERE workspace_id = ${workspaceId}
              AND key = ${key}`
        }, Effect.orDie),

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
    })
  )
}

const coverageOf = (windows: ReadonlyArray<MaintenanceRow>): MaintenanceCoverage => ({
  everything: windows.some(({ everything }) => everything),
  tags: new Set(windows.flatMap(({ tags }) => tags)),
  ids: new Set(windows.flatMap(({ monitor_ids, task_ids }) => [...monitor_ids, ...task_ids]))
})
