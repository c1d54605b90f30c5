import type {
  Monitor,
  MonitorCounts,
  MonitorFilters,
  MonitorKind,
  MonitorStatus
} from "@scheduling/domain/monitors/Monitor"
import type { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type IncidentId, MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { keyIsTaken } from "../core/index.ts"
import {
  columnsOf,
  intoWorkspace,
  type PageRequest,
  timestampOf,
  timestampOrNull
} from "../store/index.ts"
import { type Change, LiveChanges, tellAfterCommit } from "../events/index.ts"

/** What the rows of all kinds have in common, as they are read. */
export interface MonitorRow {
  readonly id: MonitorId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly status: MonitorStatus
  readonly changed_at: Date
  readonly open_incident_id: IncidentId | null
  readonly created_at: Date
  readonly updated_at: Date
}

export interface ListedMonitorRow extends MonitorRow {
  readonly kind: MonitorKind
  readonly next_check_at: Date | null
}

export const toMonitorFields = (row: MonitorRow, next_check_at: Date | null) => ({
  id: row.id,
  workspace_id: row.workspace_id,
  key: row.key,
  name: row.name,
  tags: row.tags,
  status: row.status,
  last_change_at: timestampOf(row.changed_at),
  next_check_at: timestampOrNull(next_check_at),
  open_incident_id: row.open_incident_id,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export const toMonitor = (row: ListedMonitorRow): Monitor => ({
  kind: row.kind,
  ...toMonitorFields(row, row.next_check_at)
})

/** A monitor `m` as its status is now; `h` has its heartbeat, if it is one. */
export const monitorColumns = (sql: SqlClient.SqlClient, now: Date) => sql`
  m.id, m.workspace_id, m.key, m.name, m.tags, m.open_incident_id, m.created_at, m.updated_at,
  ${statusNow(sql, now)} AS status,
  CASE WHEN ${isLate(sql, now)} THEN h.expected_at ELSE m.changed_at END AS changed_at`

/** Keeps those of the monitors `m` that a list is asked for. */
export const asFiltered = (
  sql: SqlClient.SqlClient,
  { key, name, status, tag }: MonitorFilters,
  now: Date
): Statement.Fragment => {
  const none = sql.literal("")
  return sql`
    ${key === undefined ? none : sql`AND m.key = ${key}`}
    ${name === undefined ? none : sql`AND strpos(lower(m.name), lower(${name})) > 0`}
    ${tag === undefined ? none : sql`AND ${tag} = ANY (m.tags)`}
    ${status === undefined ? none : sql`AND ${statusNow(sql, now)} = ${status}`}`
}

const isLate = (sql: SqlClient.SqlClient, now: Date) =>
  sql`(m.status IN ('new', 'up') AND h.expected_at IS NOT NULL AND h.expected_at < ${now})`

const statusNow = (sql: SqlClient.SqlClient, now: Date) =>
  sql`CASE WHEN ${isLate(sql, now)} THEN 'late' ELSE m.status END`

export interface StatusUpdate {
  readonly monitor_id: string
  readonly status: Exclude<MonitorStatus, "late">
  readonly at: number
  readonly open_incident_id: string | null
}

interface ToldMonitor {
  readonly kind: MonitorKind
  readonly monitor_id: string
  readonly workspace_id: string
  readonly status?: MonitorStatus
}

const toldAs =
  (change: Extract<Change, { readonly type: "monitor" }>["change"]) =>
  ({ kind, monitor_id, status }: ToldMonitor): Change => ({
    type: "monitor",
    kind,
    monitor_id: MonitorId.make(monitor_id),
    change,
    status: status ?? null
  })

/** Of the list of all kinds. */
interface ListedFilters extends MonitorFilters {
  readonly kind?: MonitorKind | undefined
  readonly ids?: ReadonlyArray<string> | undefined
}

/** What people know a monitor by. */
export interface KnownMonitor {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly name: string
  readonly tags: ReadonlyArray<string>
}

export class MonitorsRepo extends Context.Service<
  MonitorsRepo,
  {
    /** It is new: nothing has been heard of it, or seen. */
    readonly insert: (
      monitor: Pick<MonitorRow, "id" | "workspace_id" | "key" | "name" | "tags" | "created_at"> & {
        readonly kind: MonitorKind
      }
    ) => Effect.Effect<void, NotFound | Conflict>
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
    /** What is undefined stays as it is. */
    readonly update: (
      monitor: Pick<MonitorRow, "id" | "workspace_id" | "updated_at"> & {
        readonly name: string | undefined
        readonly tags: ReadonlyArray<string> | undefined
      }
    ) => Effect.Effect<void>
    /** Fails if another monitor of the kind has the key. The row must be locked. */
    readonly giveKey: (
      monitor: Pick<MonitorRow, "id" | "workspace_id">,
      key: string | null
    ) => Effect.Effect<void, Conflict>
    readonly listKnown: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<KnownMonitor>>
    /** For whoever holds the rows of their kinds. */
    readonly updateStatuses: (
      updates: ReadonlyArray<StatusUpdate>
    ) => Effect.Effect<ReadonlyArray<KnownMonitor>>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/MonitorsRepo") {
  static readonly layer: Layer.Layer<MonitorsRepo, never, SqlClient.SqlClient> = Layer.effect(
    MonitorsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tell = tellAfterCommit(sql, yield* LiveChanges)

      return MonitorsRepo.of({
        insert: Effect.fn("MonitorsRepo.insert")(
          function* (monitor) {
            const { created_at, id, key, kind, name, tags, workspace_id } = monitor
            yield* sql`
              INSERT INTO monitors
                (id, workspace_id, kind, key, name, tags, status, changed_at, created_at, updated_at)
              VALUES
                (${id}, ${workspace_id}, ${kind}, ${key}, ${name}, ${tags}::text[],
                 'new', ${created_at}, ${created_at}, ${created_at})`
            yield* tell([{ kind, monitor_id: id, workspace_id }], toldAs("created"))
          },
          Effect.catchReason("SqlError", "UniqueViolation", () => keyIsTaken),
          intoWorkspace
        ),

        list: Effect.fn("MonitorsRepo.list")(function* (
          workspaceId,
          { ids, kind, ...filters },
          page,
          now
        ) {
          return yield* sql<ListedMonitorRow>`
            SELECT
              m.kind, ${monitorColumns(sql, now)},
              coalesce(h.alert_at, s.check_at, p.check_at) AS next_check_at
            FROM monitors AS m
            LEFT JOIN heartbeats AS h ON h.monitor_id = m.id
            LEFT JOIN ssl_monitors AS s ON s.monitor_id = m.id
            LEFT JOIN process_monitors AS p ON p.monitor_id = m.id
            WHERE m.workspace_id = ${workspaceId}
              ${kind === undefined ? sql.literal("") : sql`AND m.kind = ${kind}`}
              ${ids === undefined ? sql.literal("") : sql`AND m.id = ANY (${ids}::uuid[])`}
              AND m.id < ${page.before}
              ${asFiltered(sql, filters, now)}
            ORDER BY m.id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        countByStatus: Effect.fn("MonitorsRepo.countByStatus")(function* (workspaceId, now) {
          const rows = yield* sql<{ readonly status: MonitorStatus; readonly monitors: number }>`
            SELECT ${statusNow(sql, now)} AS status, count(*)::int AS monitors
            FROM monitors AS m
            LEFT JOIN heartbeats AS h ON h.monitor_id = m.id
            WHERE m.workspace_id = ${workspaceId}
            GROUP BY 1`
          const counts = { new: 0, up: 0, late: 0, warning: 0, down: 0, paused: 0 }
          for (const { monitors, status } of rows) counts[status] = monitors
          return counts
        }, Effect.orDie),

        update: Effect.fn("MonitorsRepo.update")(function* (monitor) {
          const updated = yield* sql<ToldMonitor>`
            UPDATE monitors
            SET
              name = coalesce(${monitor.name ?? null}::text, name),
              tags = coalesce(${monitor.tags ?? null}::text[], tags),
              updated_at = ${monitor.updated_at}
            WHERE workspace_id = ${monitor.workspace_id}
              AND id = ${monitor.id}
            RETURNING kind, id AS monitor_id, workspace_id`
          yield* tell(updated, toldAs("updated"))
        }, Effect.orDie),

        giveKey: Effect.fn("MonitorsRepo.giveKey")(
          function* ({ id, workspace_id }, key) {
            yield* sql`
              UPDATE monitors
              SET key = ${key}
              WHERE workspace_id = ${workspace_id}
                AND id = ${id}`
          },
          Effect.catchReason("SqlError", "UniqueViolation", () => keyIsTaken),
          Effect.catchTag("SqlError", Effect.die)
        ),

        listKnown: Effect.fn("MonitorsRepo.listKnown")(function* (ids) {
          return yield* sql<KnownMonitor>`
            SELECT id AS monitor_id, workspace_id, name, tags
            FROM monitors
            WHERE id = ANY (${ids}::uuid[])`
        }, Effect.orDie),

        updateStatuses: Effect.fn("MonitorsRepo.updateStatuses")(function* (updates) {
          if (updates.length === 0) return []
          const column = columnsOf(updates)
          const updated = yield* sql<KnownMonitor & ToldMonitor>`
            UPDATE monitors
            SET
              status = changed.status,
              changed_at = to_timestamp(changed.at / 1000),
              updated_at = CASE
                WHEN 'paused' IN (changed.status, monitors.status) THEN to_timestamp(changed.at / 1000)
                ELSE updated_at
              END,
              open_incident_id = changed.open_incident_id
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("text", ({ status }) => status)},
              ${column("float8", ({ at }) => at)},
              ${column("uuid", ({ open_incident_id }) => open_incident_id)}
            ) AS changed (monitor_id, status, at, open_incident_id)
            WHERE monitors.id = changed.monitor_id
            RETURNING
              kind, monitors.id AS monitor_id, workspace_id, name, tags, monitors.status`
          yield* tell(updated, toldAs("status_changed"))
          return updated
        }, Effect.orDie),

        remove: Effect.fn("MonitorsRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql<ToldMonitor>`
            DELETE FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING kind, id AS monitor_id, workspace_id`
          yield* tell(removed, toldAs("deleted"))
        }, Effect.orDie)
      })
    })
  )
}
