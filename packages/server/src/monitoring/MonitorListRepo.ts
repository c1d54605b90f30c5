import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  Monitor,
  MonitorCounts,
  MonitorFilters,
  MonitorStatus
} from "@scheduling/domain/monitors/Monitor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "../store/index.ts"
import { monitorKinds } from "./monitorKinds.ts"
import { matchFilters, type MonitorRow, statusAt } from "./MonitorRows.ts"

export interface ListedMonitorRow extends MonitorRow {
  readonly kind: Monitor["kind"]
  readonly next_check_at: Date | null
  readonly late_after: Date | null
}

interface ListedFilters extends MonitorFilters {
  readonly kind?: Monitor["kind"] | undefined
  readonly ids?: ReadonlyArray<string> | undefined
}

export class MonitorListRepo extends Context.Service<
  MonitorListRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: ListedFilters,
      page: PageRequest,
      now: Date
    ) => Effect.Effect<ReadonlyArray<ListedMonitorRow>>
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
        list: Effect.fn("MonitorListRepo.list")(function* (
          workspaceId,
          { ids, kind, ...filters },
          page,
          now
        ) {
          return yield* sql<ListedMonitorRow>`
            SELECT
              m.*, ${sql.literal(nextCheckAt)} AS next_check_at, ${sql.literal(lateAfter)} AS late_after
            FROM monitors AS m ${sql.literal(joins)}
            WHERE m.workspace_id = ${workspaceId}
              ${kind === undefined ? sql.literal("") : sql`AND m.kind = ${kind}`}
              ${ids === undefined ? sql.literal("") : sql`AND m.id = ANY (${ids}::uuid[])`}
              AND m.id < ${page.before}
              ${matchFilters(sql, filters, statusAt(sql, lateAfter, now))}
            ORDER BY m.id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        countByStatus: Effect.fn("MonitorListRepo.countByStatus")(function* (workspaceId, now) {
          const rows = yield* sql<{ readonly status: MonitorStatus; readonly monitors: number }>`
            SELECT ${statusAt(sql, lateAfter, now)} AS status, count(*)::int AS monitors
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

const tables = monitorKinds.map(({ table }) => table)
const lateTables = tables.flatMap((table) =>
  table.lateAfter === undefined ? [] : [{ ...table, lateAfter: table.lateAfter }]
)

const joined = (names: ReadonlyArray<string>) =>
  names.map((name) => `LEFT JOIN ${name} ON ${name}.monitor_id = m.id`).join(" ")

const joins = joined(tables.map(({ name }) => name))
const lateJoins = joined(lateTables.map(({ name }) => name))

const nextCheckAt = `coalesce(${tables.map(({ name, nextCheckAt: column }) => `${name}.${column}`).join(", ")})`
const lateAfter = `coalesce(${lateTables.map(({ name, lateAfter: column }) => `${name}.${column}`).join(", ")})`
