import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Monitor, MonitorCounts, MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dependsOnColumn } from "../incidents/index.ts"
import {
  countRows,
  isListedAfter,
  listOrder,
  type ListRequest,
  type PageRow,
  sortColumn
} from "../store/index.ts"
import { monitorKinds } from "./monitorKinds.ts"
import {
  matchesMonitorFilters,
  type MonitorFilters,
  type MonitorRow,
  monitorStatusSql
} from "./MonitorTable.ts"

export interface ListedMonitorRow extends MonitorRow {
  readonly kind: Monitor["kind"]
  readonly next_check_at: Date | null
  readonly late_after: Date | null
}

interface ListedFilters extends MonitorFilters {
  readonly ids?: ReadonlyArray<string> | undefined
}

export class MonitorListRepo extends Context.Service<
  MonitorListRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: ListedFilters,
      page: ListRequest,
      now: Date
    ) => Effect.Effect<ReadonlyArray<ListedMonitorRow & PageRow>>
    readonly count: (
      workspaceId: AuthorizedWorkspaceId,
      filters: ListedFilters,
      now: Date
    ) => Effect.Effect<number>
    readonly countByStatus: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date
    ) => Effect.Effect<MonitorCounts>
  }
>()("@scheduling/server/monitoring/MonitorListRepo") {
  static readonly layer: Layer.Layer<MonitorListRepo, never, SqlClient.SqlClient> = Layer.effect(
    MonitorListRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      MonitorListRepo.of({
        list: Effect.fn("MonitorListRepo.list")(function* (workspaceId, filters, page, now) {
          return yield* sql<ListedMonitorRow & PageRow>`
            SELECT
              m.*, ${sql.literal(dependsOnColumn("m"))} AS depends_on,
              ${sql.literal(nextCheckAt)} AS next_check_at, ${sql.literal(lateAfter)} AS late_after
              ${sql.literal(sortColumn(page))}
            FROM monitors AS m ${sql.literal(joins)}
            WHERE m.workspace_id = ${workspaceId}
              ${matches(sql, filters, now)}
              AND ${isListedAfter(sql, page, "m.id")}
            ORDER BY ${sql.literal(listOrder(page, "m.id"))}
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        count: Effect.fn("MonitorListRepo.count")(function* (workspaceId, filters, now) {
          return yield* countRows(
            sql,
            sql`
              SELECT
              FROM monitors AS m ${sql.literal(lateJoins)}
              WHERE m.workspace_id = ${workspaceId}
                ${matches(sql, filters, now)}`
          )
        }, Effect.orDie),

        countByStatus: Effect.fn("MonitorListRepo.countByStatus")(function* (workspaceId, now) {
          const rows = yield* sql<{ readonly status: MonitorStatus; readonly monitors: number }>`
            SELECT ${monitorStatusSql(sql, lateAfter, now)} AS status, count(*)::int AS monitors
            FROM monitors AS m ${sql.literal(lateJoins)}
            WHERE m.workspace_id = ${workspaceId}
            GROUP BY 1`
          const counts = { new: 0, up: 0, late: 0, warning: 0, down: 0, paused: 0 }
          for (const { monitors, status } of rows) counts[status] = monitors
          return counts
        }, Effect.orDie)
      })
    )
  )
}

const matches = (sql: SqlClient.SqlClient, { ids, ...filters }: ListedFilters, now: Date) => sql`
  ${ids === undefined ? sql.literal("") : sql`AND m.id = ANY (${ids}::uuid[])`}
  ${matchesMonitorFilters(sql, filters, monitorStatusSql(sql, lateAfter, now))}`

const tables = monitorKinds.map(({ table }) => table)
const lateTables = tables.flatMap((table) =>
  table.lateAfter === undefined ? [] : [{ ...table, lateAfter: table.lateAfter }]
)

/**
 * Returns the joins with the tables of these names. Each table is joined once, because several
 * kinds can share a table.
 */
const joined = (names: ReadonlyArray<string>) =>
  [...new Set(names)].map((name) => `LEFT JOIN ${name} ON ${name}.monitor_id = m.id`).join(" ")

const joins = joined(tables.map(({ name }) => name))
const lateJoins = joined(lateTables.map(({ name }) => name))

const nextCheckAt = `coalesce(${[...new Set(tables.map(({ name, nextCheckAt: column }) => `${name}.${column}`))].join(", ")})`
const lateAfter = `coalesce(${lateTables.map(({ name, lateAfter: column }) => `${name}.${column}`).join(", ")})`
