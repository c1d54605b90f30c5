import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorFilters, MonitorKind } from "@scheduling/domain/monitors/Monitor"
import { Effect, Option } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { PageRequest } from "../store/index.ts"
import { asFiltered } from "./MonitorsRepo.ts"

/** How monitors of one kind are read, each with what only its kind has. */
export interface MonitorReads<Row> {
  readonly find: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    now: Date
  ) => Effect.Effect<Option.Option<Row>>
  readonly findByKey: (
    workspaceId: AuthorizedWorkspaceId,
    key: string,
    now: Date
  ) => Effect.Effect<Option.Option<Row>>
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    filters: MonitorFilters,
    page: PageRequest,
    now: Date
  ) => Effect.Effect<ReadonlyArray<Row>>
}

/** Columns and tables, with the monitor itself as `m`. */
export const monitorReads = <Row extends object>(
  sql: SqlClient.SqlClient,
  kind: MonitorKind,
  columnsFrom: (now: Date) => Statement.Fragment
): MonitorReads<Row> => {
  const findWhere = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    condition: Statement.Fragment,
    now: Date
  ) {
    const rows = yield* sql<Row>`
      SELECT ${columnsFrom(now)}
      WHERE m.workspace_id = ${workspaceId}
        AND ${condition}`
    return Option.fromNullishOr(rows[0])
  }, Effect.orDie)

  return {
    find: (workspaceId, id, now) => findWhere(workspaceId, sql`m.id = ${id}`, now),

    findByKey: (workspaceId, key, now) =>
      findWhere(workspaceId, sql`m.kind = ${kind} AND m.key = ${key}`, now),

    list: Effect.fn("MonitorReads.list")(function* (workspaceId, filters, page, now) {
      return yield* sql<Row>`
        SELECT ${columnsFrom(now)}
        WHERE m.workspace_id = ${workspaceId}
          AND m.kind = ${kind}
          AND m.id < ${page.before}
          ${asFiltered(sql, filters, now)}
        ORDER BY m.id DESC
        LIMIT ${page.limit + 1}`
    }, Effect.orDie)
  }
}

/** When the next one of a table is to be looked at. */
export const findNextCheck = (
  sql: SqlClient.SqlClient,
  table: string
): Effect.Effect<Date | undefined> =>
  sql<{ readonly check_at: Date | null }>`
    SELECT min(check_at) AS check_at
    FROM ${sql(table)}
    WHERE check_at IS NOT NULL`.pipe(
    Effect.map(([row]) => row?.check_at ?? undefined),
    Effect.orDie,
    Effect.withSpan("MonitorReads.findNextCheck")
  )
