import {
  type Incident,
  type IncidentCause,
  type IncidentCode,
  type IncidentDelivery,
  type IncidentFilters,
  maxIncidentDeliveries
} from "@scheduling/domain/incidents/Incident"
import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import type { DeliveryStatus } from "@scheduling/domain/notifications/NotificationDelivery"
import type { EventIncident } from "@scheduling/domain/events/Event"
import type { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  IncidentId,
  MonitorId,
  type NotificationChannelId,
  type NotificationDeliveryId
} from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import {
  columnsOf,
  type PageRequest,
  repeatUntilFewerThan,
  timestampOf,
  timestampOrNull
} from "../store/index.ts"
import { type Change, LiveChanges, publishAfterCommit } from "../events/index.ts"

export interface IncidentRow {
  readonly id: IncidentId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly monitor_id: MonitorId
  readonly kind: MonitorKind
  readonly opened_at: Date
  readonly closed_at: Date | null
  readonly cause_code: IncidentCode
  readonly cause_message: string
  readonly acknowledged_by: string | null
  readonly acknowledged_at: Date | null
}

export interface IncidentDeliveryRow {
  readonly id: NotificationDeliveryId
  readonly channel_id: NotificationChannelId
  readonly channel_kind: NotificationKind
  readonly status: DeliveryStatus
  readonly created_at: Date
  readonly finished_at: Date | null
}

/**
 * An incident to insert. It is closed already if the monitor has recovered in the same transaction.
 */
export interface NewIncident {
  readonly id: string
  readonly workspace_id: string
  readonly monitor_id: string
  readonly kind: MonitorKind
  readonly opened_at: number
  readonly closed_at: number | null
  readonly cause: IncidentCause
}

type ChangedIncident = Pick<
  IncidentRow,
  "id" | "workspace_id" | "monitor_id" | "kind" | "cause_code" | "cause_message"
>

const eventIncident = (row: ChangedIncident): EventIncident => ({
  id: row.id,
  monitor_id: row.monitor_id,
  monitor_kind: row.kind,
  cause: { code: row.cause_code, message: row.cause_message }
})

const toLiveChange =
  (type: "incident.closed" | "incident.acknowledged") =>
  (row: ChangedIncident): Change => ({ type, data: { incident: eventIncident(row) } })

const opening = ({ cause, id, kind, monitor_id }: NewIncident): Change => ({
  type: "incident.opened",
  data: {
    incident: {
      id: IncidentId.make(id),
      monitor_id: MonitorId.make(monitor_id),
      monitor_kind: kind,
      cause
    }
  }
})

export const toIncident = (row: IncidentRow): Incident => ({
  id: row.id,
  workspace_id: row.workspace_id,
  monitor_id: row.monitor_id,
  kind: row.kind,
  opened_at: timestampOf(row.opened_at),
  closed_at: timestampOrNull(row.closed_at),
  cause: { code: row.cause_code, message: row.cause_message },
  acknowledged_by: row.acknowledged_by,
  acknowledged_at: timestampOrNull(row.acknowledged_at)
})

export const toIncidentDelivery = (row: IncidentDeliveryRow): IncidentDelivery => ({
  id: row.id,
  channel_id: row.channel_id,
  kind: row.channel_kind,
  status: row.status,
  created_at: timestampOf(row.created_at),
  finished_at: timestampOrNull(row.finished_at)
})

export class IncidentsRepo extends Context.Service<
  IncidentsRepo,
  {
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<IncidentRow>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: IncidentFilters,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<IncidentRow>>
    /**
     * Closes the open incidents of these monitors, and returns them by monitor. The
     * transaction must hold the locks of the monitors.
     */
    readonly updateClosed: (
      ends: ReadonlyArray<{ readonly monitor_id: string; readonly at: number }>
    ) => Effect.Effect<ReadonlyMap<string, EventIncident>>
    readonly insert: (incidents: ReadonlyArray<NewIncident>) => Effect.Effect<void>
    /** Acknowledges the incident, unless somebody has done so before. */
    readonly updateAcknowledged: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      by: string,
      now: Date
    ) => Effect.Effect<void>
    /** Lists the notifications about the incident, oldest first. */
    readonly listDeliveries: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<ReadonlyArray<IncidentDeliveryRow>>
    readonly removeClosed: (before: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/incidents/IncidentsRepo") {
  static readonly layer: Layer.Layer<IncidentsRepo, never, SqlClient.SqlClient> = Layer.effect(
    IncidentsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publish = publishAfterCommit(sql, yield* LiveChanges)
      const none = sql.literal("")

      return IncidentsRepo.of({
        find: Effect.fn("IncidentsRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<IncidentRow>`
            SELECT *
            FROM incidents
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fn("IncidentsRepo.list")(function* (workspaceId, filters, page) {
          const { from, monitor_id, open, to } = filters
          return yield* sql<IncidentRow>`
            SELECT *
            FROM incidents
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
              ${monitor_id === undefined ? none : sql`AND monitor_id = ${monitor_id}`}
              ${open === undefined ? none : sql`AND (closed_at IS NULL) = ${open === "true"}`}
              ${from === undefined ? none : sql`AND opened_at >= ${new Date(from)}`}
              ${to === undefined ? none : sql`AND opened_at < ${new Date(to)}`}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        updateClosed: Effect.fn("IncidentsRepo.updateClosed")(function* (ends) {
          if (ends.length === 0) return new Map()
          const column = columnsOf(ends)
          const closed = yield* sql<ChangedIncident>`
            UPDATE incidents
            SET closed_at = to_timestamp(ends.at / 1000)
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("float8", ({ at }) => at)}
            ) AS ends (monitor_id, at)
            WHERE incidents.monitor_id = ends.monitor_id
              AND incidents.closed_at IS NULL
            RETURNING id, workspace_id, incidents.monitor_id, kind, cause_code, cause_message`
          yield* publish(closed, toLiveChange("incident.closed"))
          return new Map(closed.map((row) => [row.monitor_id, eventIncident(row)]))
        }, Effect.orDie),

        insert: Effect.fn("IncidentsRepo.insert")(function* (incidents) {
          if (incidents.length === 0) return
          const column = columnsOf(incidents)
          yield* sql`
            INSERT INTO incidents (
              id, workspace_id, monitor_id, kind, opened_at, closed_at, cause_code, cause_message
            )
            SELECT
              id, workspace_id, monitor_id, kind, to_timestamp(opened_ms / 1000),
              to_timestamp(closed_ms / 1000), cause_code, cause_message
            FROM unnest(
              ${column("uuid", ({ id }) => id)},
              ${column("uuid", ({ workspace_id }) => workspace_id)},
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("text", ({ kind }) => kind)},
              ${column("float8", ({ opened_at }) => opened_at)},
              ${column("float8", ({ closed_at }) => closed_at)},
              ${column("text", ({ cause }) => cause.code)},
              ${column("text", ({ cause }) => cause.message)}
            ) AS begun (
              id, workspace_id, monitor_id, kind, opened_ms, closed_ms, cause_code, cause_message
            )`
          yield* publish(incidents, opening)
        }, Effect.orDie),

        updateAcknowledged: Effect.fn("IncidentsRepo.updateAcknowledged")(function* (
          workspaceId,
          id,
          by,
          now
        ) {
          const acknowledged = yield* sql<ChangedIncident>`
            UPDATE incidents
            SET acknowledged_by = ${by}, acknowledged_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
              AND acknowledged_at IS NULL
            RETURNING id, workspace_id, monitor_id, kind, cause_code, cause_message`
          yield* publish(acknowledged, toLiveChange("incident.acknowledged"))
        }, Effect.orDie),

        listDeliveries: Effect.fn("IncidentsRepo.listDeliveries")(function* (workspaceId, id) {
          return yield* sql<IncidentDeliveryRow>`
            SELECT
              sent.id, sent.channel_id, sent.channel_kind, sent.status, sent.created_at,
              sent.finished_at
            FROM incident_deliveries
            JOIN notification_deliveries AS sent ON sent.id = incident_deliveries.delivery_id
            WHERE incident_deliveries.incident_id = ${id}
              AND sent.workspace_id = ${workspaceId}
            ORDER BY sent.ordinal
            LIMIT ${maxIncidentDeliveries}`
        }, Effect.orDie),

        removeClosed: Effect.fn("IncidentsRepo.removeClosed")(function* (before) {
          yield* repeatUntilFewerThan(
            batch,
            sql`
              DELETE FROM incidents
              WHERE id IN (
                SELECT id
                FROM incidents
                WHERE closed_at < ${before}
                LIMIT ${batch}
              )
              RETURNING id`
          )
        }, Effect.orDie)
      })
    })
  )
}

const batch = 5_000
