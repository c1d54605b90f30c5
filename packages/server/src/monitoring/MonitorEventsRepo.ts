import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorEventId, MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf, type PageRequest, repeatUntilFewerThan } from "../store/index.ts"
import { makeIdAt } from "./makeIdAt.ts"

/** An entry in a monitor's history. `at` is in milliseconds. */
export interface MonitorEvent<Details = unknown> {
  readonly workspace_id: string
  readonly monitor_id: string
  readonly type: string
  readonly status: string
  readonly at: number
  readonly details: Details | null
}

export interface MonitorEventRow<Details> {
  readonly id: MonitorEventId
  readonly type: string
  readonly status: string
  readonly at: Date
  readonly details: Details | null
}

/** Turns events into a table, for a statement that writes a monitor together with its events. */
export const eventsTableSql = (sql: SqlClient.SqlClient, events: ReadonlyArray<MonitorEvent>) => {
  const column = columnsOf([...events.entries()])
  return sql`
    SELECT id, workspace_id, monitor_id, type, status, to_timestamp(at / 1000) AS at, details::jsonb
    FROM unnest(
      ${column("uuid", ([ordinal, { at }]) => makeIdAt(at, ordinal))},
      ${column("uuid", ([, { workspace_id }]) => workspace_id)},
      ${column("uuid", ([, { monitor_id }]) => monitor_id)},
      ${column("text", ([, { type }]) => type)},
      ${column("text", ([, { status }]) => status)},
      ${column("float8", ([, { at }]) => at)},
      ${column("text", ([, { details }]) => (details === null ? null : JSON.stringify(details)))}
    ) AS event (id, workspace_id, monitor_id, type, status, at, details)`
}

export class MonitorEventsRepo extends Context.Service<
  MonitorEventsRepo,
  {
    readonly insert: (events: ReadonlyArray<MonitorEvent>) => Effect.Effect<void>
    readonly list: <Details>(
      workspaceId: AuthorizedWorkspaceId,
      monitorId: MonitorId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<MonitorEventRow<Details>>>
    readonly removeOfDeletedMonitors: Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/MonitorEventsRepo") {
  static readonly layer: Layer.Layer<MonitorEventsRepo, never, SqlClient.SqlClient> = Layer.effect(
    MonitorEventsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const removeSome = Effect.fnUntraced(function* (monitorId: string) {
        const rows = yield* sql<{ readonly id: string }>`
          SELECT id
          FROM monitor_events
          WHERE monitor_id = ${monitorId}
          ORDER BY id DESC
          LIMIT ${batch}`
        yield* sql`
          DELETE FROM monitor_events
          WHERE id = ANY (${rows.map(({ id }) => id)}::uuid[])`
        return rows
      })

      return MonitorEventsRepo.of({
        insert: Effect.fn("MonitorEventsRepo.insert")(function* (events) {
          if (events.length === 0) return
          yield* sql`
            INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at, details)
            ${eventsTableSql(sql, events)}`
        }, Effect.orDie),

        list: <Details>(
          workspaceId: AuthorizedWorkspaceId,
          monitorId: MonitorId,
          page: PageRequest
        ) =>
          sql<MonitorEventRow<Details>>`
            SELECT id, type, status, at, details
            FROM monitor_events
            WHERE workspace_id = ${workspaceId}
              AND monitor_id = ${monitorId}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`.pipe(Effect.orDie, Effect.withSpan("MonitorEventsRepo.list")),

        removeOfDeletedMonitors: Effect.gen(function* () {
          const deletedMonitors = yield* sql<{ readonly monitor_id: string }>`
            SELECT monitor_id
            FROM removed_monitors`
          for (const { monitor_id } of deletedMonitors) {
            yield* repeatUntilFewerThan(batch, removeSome(monitor_id))
            yield* sql`
              DELETE FROM uptime_buckets
              WHERE monitor_id = ${monitor_id}`
            yield* sql`
              DELETE FROM removed_monitors
              WHERE monitor_id = ${monitor_id}`
          }
        }).pipe(Effect.orDie, Effect.withSpan("MonitorEventsRepo.removeOfDeletedMonitors"))
      })
    })
  )
}

const batch = 5_000
