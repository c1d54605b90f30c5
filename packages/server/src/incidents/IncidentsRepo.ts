import {
  type Incident,
  type IncidentCause,
  type IncidentCode,
  type IncidentDelivery,
  type IncidentFilters,
  type IncidentSubjectKind,
  maxIncidentDeliveries
} from "@scheduling/domain/incidents/Incident"
import { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import type { DeliveryStatus } from "@scheduling/domain/notifications/NotificationDelivery"
import type { EventIncident } from "@scheduling/domain/events/Event"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  IncidentId,
  NotificationChannelId,
  NotificationDeliveryId
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
  readonly subject_kind: IncidentSubjectKind
  readonly subject_id: string
  readonly subject_name: string
  readonly opened_at: Date
  readonly closed_at: Date | null
  /** True if the incident was closed because its subject recovered. */
  readonly recovered: boolean
  readonly cause_code: IncidentCode
  readonly cause_message: string
  readonly certificate_expires_at: Date | null
  readonly acknowledged_by: string | null
  readonly acknowledged_at: Date | null
  readonly snoozed_until: Date | null
  readonly suppressed_by: IncidentId | null
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
 * An incident to insert. If the monitor recovers in the same transaction, the incident is inserted
 * as closed.
 */
export interface NewIncident {
  readonly id: string
  readonly workspace_id: string
  readonly subject_kind: IncidentSubjectKind
  readonly subject_id: string
  /** The subject's name. Null for a monitor, whose name is read when the incident is inserted. */
  readonly subject_name: string | null
  readonly opened_at: number
  readonly closed_at: number | null
  readonly cause: IncidentCause
  /** A dependency's open incident. While that incident is open, nobody is notified of this one. */
  readonly suppressed_by?: string | null
}

/**
 * An open incident, and the incident that suppresses it from now on. Null if none suppresses it any
 * more.
 */
export interface Suppression {
  readonly id: string
  readonly suppressed_by: string | null
}

/** When and why a subject's open incident is closed. */
export interface IncidentEnd {
  readonly subject_id: string
  readonly at: number
  readonly recovered: boolean
}

type ChangedIncident = Pick<
  IncidentRow,
  | "id"
  | "workspace_id"
  | "subject_kind"
  | "subject_id"
  | "subject_name"
  | "cause_code"
  | "cause_message"
  | "certificate_expires_at"
>

const changedColumns =
  "incidents.id, incidents.workspace_id, incidents.subject_kind, incidents.subject_id, " +
  "incidents.subject_name, incidents.cause_code, incidents.cause_message, incidents.certificate_expires_at"

const subjectOf = ({
  subject_id: id,
  subject_kind: kind,
  subject_name: name
}: Pick<IncidentRow, "subject_id" | "subject_kind" | "subject_name">) => ({ kind, id, name })

const causeOf = ({
  cause_code: code,
  cause_message: message,
  certificate_expires_at: expiresAt
}: ChangedIncident): IncidentCause => ({
  code,
  message,
  ...(expiresAt !== null && { certificate_expires_at: timestampOf(expiresAt) })
})

const eventIncident = (row: ChangedIncident): EventIncident => ({
  id: row.id,
  subject: subjectOf(row),
  cause: causeOf(row)
})

const toLiveChange =
  (type: "incident.opened" | "incident.closed" | "incident.acknowledged") =>
  (row: ChangedIncident): Change => ({ type, data: { incident: eventIncident(row) } })

export const toIncident = (row: IncidentRow): Incident => ({
  id: row.id,
  workspace_id: row.workspace_id,
  subject: subjectOf(row),
  status:
    row.closed_at !== null ? "closed" : row.acknowledged_at !== null ? "acknowledged" : "open",
  opened_at: timestampOf(row.opened_at),
  closed_at: timestampOrNull(row.closed_at),
  cause: causeOf(row),
  acknowledged_by: row.acknowledged_by,
  acknowledged_at: timestampOrNull(row.acknowledged_at),
  snoozed_until: timestampOrNull(row.snoozed_until),
  suppressed: row.suppressed_by !== null,
  suppressed_by: row.suppressed_by
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
    /** Finds an incident by its id alone, for a link that contains the id. */
    readonly findByLink: (id: string) => Effect.Effect<Option.Option<IncidentRow>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: IncidentFilters,
      kinds: ReadonlyArray<IncidentSubjectKind>,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<IncidentRow>>
    /**
     * Closes the open incidents of these monitors or tasks, and returns them by subject. The
     * transaction must hold the monitors' locks or the routing lock.
     */
    readonly updateClosed: (
      ends: ReadonlyArray<IncidentEnd>
    ) => Effect.Effect<ReadonlyMap<string, EventIncident>>
    /** Closes an open incident although its subject has not recovered. */
    readonly updateClosedByHand: (incident: IncidentRow, now: Date) => Effect.Effect<void>
    readonly insert: (incidents: ReadonlyArray<NewIncident>) => Effect.Effect<void>
    readonly updateSuppressed: (suppressions: ReadonlyArray<Suppression>) => Effect.Effect<void>
    /** Acknowledges the incident. Returns false if somebody has already acknowledged it. */
    readonly updateAcknowledged: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      by: string | null,
      now: Date
    ) => Effect.Effect<boolean>
    readonly updateSnoozed: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      until: Date | null
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
      const changed = sql.literal(changedColumns)

      return IncidentsRepo.of({
        find: Effect.fn("IncidentsRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<IncidentRow>`
            SELECT *
            FROM incidents
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByLink: Effect.fn("IncidentsRepo.findByLink")(function* (id) {
          const rows = yield* sql<IncidentRow>`
            SELECT *
            FROM incidents
            WHERE id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fn("IncidentsRepo.list")(function* (workspaceId, filters, kinds, page) {
          const { from, open, status, subject_id, suppressed, to } = filters
          // Open incidents are few, and have an index of their own.
          const areOpen = open === "true" || status?.includes("closed") === false
          return yield* sql<IncidentRow>`
            SELECT *
            FROM incidents
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
              AND subject_kind = ANY (${kinds}::text[])
              ${subject_id === undefined ? none : sql`AND subject_id = ${subject_id}`}
              ${
                status === undefined
                  ? none
                  : sql`AND CASE
                      WHEN closed_at IS NOT NULL THEN 'closed'
                      WHEN acknowledged_at IS NOT NULL THEN 'acknowledged'
                      ELSE 'open'
                    END = ANY (${status}::text[])`
              }
              ${areOpen ? sql`AND closed_at IS NULL` : none}
              ${open === "false" ? sql`AND closed_at IS NOT NULL` : none}
              ${
                suppressed === undefined
                  ? none
                  : sql`AND (suppressed_by IS NOT NULL) = ${suppressed === "true"}`
              }
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
            SET closed_at = to_timestamp(ends.at / 1000), recovered = ends.recovered
            FROM unnest(
              ${column("uuid", ({ subject_id }) => subject_id)},
              ${column("float8", ({ at }) => at)},
              ${column("bool", ({ recovered }) => recovered)}
            ) AS ends (subject_id, at, recovered)
            WHERE incidents.subject_id = ends.subject_id
              AND incidents.closed_at IS NULL
            RETURNING ${changed}`
          yield* publish(closed, toLiveChange("incident.closed"))
          return new Map(closed.map((row) => [row.subject_id, eventIncident(row)]))
        }, Effect.orDie),

        updateClosedByHand: Effect.fn("IncidentsRepo.updateClosedByHand")(function* (
          { id, subject_id, workspace_id },
          now
        ) {
          yield* sql`
            UPDATE monitors
            SET open_incident_id = NULL
            WHERE workspace_id = ${workspace_id}
              AND id = ${subject_id}
              AND open_incident_id = ${id}`
          const closed = yield* sql<ChangedIncident>`
            UPDATE incidents
            SET closed_at = ${now}
            WHERE workspace_id = ${workspace_id}
              AND id = ${id}
              AND closed_at IS NULL
            RETURNING ${changed}`
          yield* publish(closed, toLiveChange("incident.closed"))
        }, Effect.orDie),

        insert: Effect.fn("IncidentsRepo.insert")(function* (incidents) {
          if (incidents.length === 0) return
          const column = columnsOf(incidents)
          const opened = yield* sql<ChangedIncident>`
            INSERT INTO incidents (
              id, workspace_id, subject_kind, subject_id, subject_name, monitor_id, opened_at,
              closed_at, recovered, cause_code, cause_message, certificate_expires_at, suppressed_by
            )
            SELECT
              id, workspace_id, subject_kind, subject_id,
              coalesce(
                subject_name,
                (
                  SELECT name
                  FROM monitors
                  WHERE monitors.id = subject_id
                    AND monitors.workspace_id = begun.workspace_id
                )
              ),
              CASE WHEN is_monitor THEN subject_id END,
              to_timestamp(opened_ms / 1000), to_timestamp(closed_ms / 1000),
              closed_ms IS NOT NULL, cause_code, cause_message, certificate_expires_at, suppressed_by
            FROM unnest(
              ${column("uuid", ({ id }) => id)},
              ${column("uuid", ({ workspace_id }) => workspace_id)},
              ${column("text", ({ subject_kind }) => subject_kind)},
              ${column("uuid", ({ subject_id }) => subject_id)},
              ${column("text", ({ subject_name }) => subject_name)},
              ${column("bool", ({ subject_kind }) => isMonitorKind(subject_kind))},
              ${column("float8", ({ opened_at }) => opened_at)},
              ${column("float8", ({ closed_at }) => closed_at)},
              ${column("text", ({ cause }) => cause.code)},
              ${column("text", ({ cause }) => cause.message)},
              ${column("timestamptz", ({ cause: { certificate_expires_at: at } }) =>
                at === undefined ? null : new Date(at)
              )},
              ${column("uuid", ({ suppressed_by = null }) => suppressed_by)}
            ) AS begun (
              id, workspace_id, subject_kind, subject_id, subject_name, is_monitor, opened_ms,
              closed_ms, cause_code, cause_message, certificate_expires_at, suppressed_by
            )
            RETURNING ${changed}`
          yield* publish(opened, toLiveChange("incident.opened"))
        }, Effect.orDie),

        updateSuppressed: Effect.fn("IncidentsRepo.updateSuppressed")(function* (suppressions) {
          if (suppressions.length === 0) return
          const column = columnsOf(suppressions)
          yield* sql`
            UPDATE incidents
            SET suppressed_by = changed.suppressed_by
            FROM unnest(
              ${column("uuid", ({ id }) => id)},
              ${column("uuid", ({ suppressed_by }) => suppressed_by)}
            ) AS changed (id, suppressed_by)
            WHERE incidents.id = changed.id`
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
            RETURNING ${changed}`
          yield* publish(acknowledged, toLiveChange("incident.acknowledged"))
          return acknowledged.length > 0
        }, Effect.orDie),

        updateSnoozed: Effect.fn("IncidentsRepo.updateSnoozed")(function* (workspaceId, id, until) {
          const snoozed = yield* sql<ChangedIncident>`
            UPDATE incidents
            SET snoozed_until = ${until}
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING ${changed}`
          yield* publish(snoozed, toLiveChange("incident.acknowledged"))
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

const isMonitorKind = (kind: IncidentSubjectKind) =>
  MonitorKind.literals.some((monitorKind) => monitorKind === kind)
