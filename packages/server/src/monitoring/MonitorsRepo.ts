import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { Monitor, MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import { monitorNouns } from "@scheduling/domain/monitors/monitorNouns"
import type { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { failIfKeyTaken } from "../core/index.ts"
import { type Change, LiveChanges, publishAfterCommit } from "../events/index.ts"
import type { MaintenanceCoverage, NewIncident } from "../incidents/index.ts"
import { columnsOf, orWorkspaceNotFound } from "../store/index.ts"
import type { MonitorRow, StoredStatus } from "./MonitorTable.ts"

/** The new status of a monitor. */
export interface StatusUpdate {
  readonly monitor_id: string
  readonly status: StoredStatus
  readonly at: number
  readonly open_incident_id: string | null
  /** Why the monitor is down, if maintenance keeps it from opening an incident. Otherwise null. */
  readonly withheld_cause: IncidentCause | null
}

interface ChangedMonitor {
  readonly kind: Monitor["kind"]
  readonly monitor_id: string
  readonly workspace_id: string
  readonly status?: MonitorStatus
}

const toLiveChange =
  (type: Extract<Change["type"], `monitor.${string}`>) =>
  ({ kind, monitor_id, status }: ChangedMonitor): Change => ({
    type,
    data: { monitor: { id: MonitorId.make(monitor_id), kind, status: status ?? null } }
  })

/** The fields of a monitor that notifications show. */
export interface MonitorSummary {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly name: string
  readonly tags: ReadonlyArray<string>
}

/** A monitor that is down. Its incident does not open while the monitor is in maintenance. */
export interface MonitorWithWithheldIncident extends MonitorSummary {
  readonly kind: Monitor["kind"]
  readonly withheld_cause: IncidentCause
}

/** Returns a kind's noun, capitalized for the start of a sentence. */
const sentenceNoun = (kind: Monitor["kind"]) => {
  const noun = monitorNouns[kind]
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`
}

export class MonitorsRepo extends Context.Service<
  MonitorsRepo,
  {
    readonly insert: (
      monitor: Pick<
        MonitorRow,
        "id" | "workspace_id" | "key" | "version" | "name" | "tags" | "created_by" | "created_at"
      > & { readonly kind: Monitor["kind"] }
    ) => Effect.Effect<void, NotFound | Conflict>
    /**
     * Changes the given fields of a monitor that the transaction has locked, and sets its version.
     */
    readonly update: (
      monitor: Pick<MonitorRow, "id" | "workspace_id" | "version" | "updated_by"> & {
        readonly kind: Monitor["kind"]
      },
      changes: {
        readonly key?: string | null
        readonly name?: string
        readonly tags?: ReadonlyArray<string>
      },
      at: Date
    ) => Effect.Effect<void, Conflict>
    /** Records who paused or resumed a monitor. */
    readonly updateAuthor: (
      monitor: Pick<MonitorRow, "id" | "workspace_id">,
      actor: Actor
    ) => Effect.Effect<void>
    readonly updateStatuses: (
      updates: ReadonlyArray<StatusUpdate>
    ) => Effect.Effect<ReadonlyArray<MonitorSummary>>
    /** Returns the tags of monitors by id. */
    readonly findTags: (
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>>
    /** Returns the workspaces with monitors whose incidents are withheld. */
    readonly findWithholding: Effect.Effect<ReadonlyArray<string>>
    /**
     * Locks the workspace's monitors that are no longer in maintenance but whose incidents are
     * still withheld. Skips monitors that another transaction has locked.
     */
    readonly listReleasable: (
      workspaceId: string,
      coverage: MaintenanceCoverage | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<MonitorWithWithheldIncident>>
    /**
     * Writes the incidents that have opened for monitors whose incidents are no longer withheld.
     */
    readonly updateReleased: (
      incidents: ReadonlyArray<Pick<NewIncident, "id" | "subject_id">>
    ) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/MonitorsRepo") {
  static readonly layer: Layer.Layer<MonitorsRepo, never, SqlClient.SqlClient> = Layer.effect(
    MonitorsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publish = publishAfterCommit(sql, yield* LiveChanges)

      return MonitorsRepo.of({
        insert: Effect.fn("MonitorsRepo.insert")(
          function* (monitor) {
            const { created_at, created_by, id, key, kind, name, tags, version, workspace_id } =
              monitor
            yield* sql`
              INSERT INTO monitors
                (id, workspace_id, kind, key, version, name, tags, status, changed_at, created_by,
                 created_at, updated_at)
              VALUES
                (${id}, ${workspace_id}, ${kind}, ${key}, ${version}, ${name}, ${tags}::text[],
                 'new', ${created_at}, ${JSON.stringify(created_by)}::jsonb, ${created_at},
                 ${created_at})`
            yield* publish(
              [{ kind, monitor_id: id, workspace_id }],
              toLiveChange("monitor.created")
            )
          },
          (insertion, { key, kind }) =>
            failIfKeyTaken("monitor", sentenceNoun(kind), key)(insertion),
          orWorkspaceNotFound
        ),

        update: Effect.fn("MonitorsRepo.update")(
          function* ({ id, updated_by, version, workspace_id }, { key, name, tags }, at) {
            const updated = yield* sql<ChangedMonitor>`
              UPDATE monitors
              SET ${sql.csv([
                sql`updated_by = ${JSON.stringify(updated_by)}::jsonb`,
                sql`updated_at = ${at}`,
                sql`version = ${version}`,
                ...(key === undefined ? [] : [sql`key = ${key}`]),
                ...(name === undefined ? [] : [sql`name = ${name}`]),
                ...(tags === undefined ? [] : [sql`tags = ${tags}::text[]`])
              ])}
              WHERE workspace_id = ${workspace_id}
                AND id = ${id}
              RETURNING kind, id AS monitor_id, workspace_id`
            yield* publish(updated, toLiveChange("monitor.updated"))
          },
          (change, { kind }, { key }) => failIfKeyTaken("monitor", sentenceNoun(kind), key)(change),
          Effect.catchTag("SqlError", Effect.die)
        ),

        updateAuthor: Effect.fn("MonitorsRepo.updateAuthor")(function* (
          { id, workspace_id },
          actor
        ) {
          yield* sql`
            UPDATE monitors
            SET updated_by = ${JSON.stringify(actor)}::jsonb
            WHERE workspace_id = ${workspace_id}
              AND id = ${id}`
        }, Effect.orDie),

        updateStatuses: Effect.fn("MonitorsRepo.updateStatuses")(function* (updates) {
          if (updates.length === 0) return []
          const column = columnsOf(updates)
          const updated = yield* sql<MonitorSummary & ChangedMonitor>`
            UPDATE monitors
            SET
              status = changed.status,
              changed_at = to_timestamp(changed.at / 1000),
              updated_at = CASE
                WHEN 'paused' IN (changed.status, monitors.status) THEN to_timestamp(changed.at / 1000)
                ELSE updated_at
              END,
              version = monitors.version
                + CASE WHEN 'paused' IN (changed.status, monitors.status) THEN 1 ELSE 0 END,
              open_incident_id = changed.open_incident_id,
              withheld_cause = changed.withheld_cause::jsonb
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("text", ({ status }) => status)},
              ${column("float8", ({ at }) => at)},
              ${column("uuid", ({ open_incident_id }) => open_incident_id)},
              ${column("text", ({ withheld_cause }) =>
                withheld_cause === null ? null : JSON.stringify(withheld_cause)
              )}
            ) AS changed (monitor_id, status, at, open_incident_id, withheld_cause)
            WHERE monitors.id = changed.monitor_id
            RETURNING
              kind, monitors.id AS monitor_id, workspace_id, name, tags, monitors.status`
          yield* publish(updated, toLiveChange("monitor.status_changed"))
          return updated
        }, Effect.orDie),

        findTags: Effect.fn("MonitorsRepo.findTags")(function* (ids) {
          const rows = yield* sql<Pick<MonitorSummary, "monitor_id" | "tags">>`
            SELECT id AS monitor_id, tags
            FROM monitors
            WHERE id = ANY (${ids}::uuid[])`
          return new Map(rows.map(({ monitor_id, tags }) => [monitor_id, tags]))
        }, Effect.orDie),

        findWithholding: sql<{ readonly workspace_id: string }>`
          SELECT DISTINCT workspace_id
          FROM monitors
          WHERE withheld_cause IS NOT NULL`.pipe(
          Effect.map((rows) => rows.map(({ workspace_id }) => workspace_id)),
          Effect.orDie,
          Effect.withSpan("MonitorsRepo.findWithholding")
        ),

        listReleasable: Effect.fn("MonitorsRepo.listReleasable")(function* (
          workspaceId,
          coverage,
          limit
        ) {
          return yield* sql<MonitorWithWithheldIncident>`
            SELECT id AS monitor_id, workspace_id, kind, name, tags, withheld_cause
            FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND withheld_cause IS NOT NULL
              AND NOT tags && ${[...(coverage?.tags ?? [])]}::text[]
              AND id <> ALL (${[...(coverage?.ids ?? [])]}::uuid[])
            ORDER BY id
            LIMIT ${limit}
            FOR UPDATE SKIP LOCKED`
        }, Effect.orDie),

        updateReleased: Effect.fn("MonitorsRepo.updateReleased")(function* (incidents) {
          const column = columnsOf(incidents)
          yield* sql`
            UPDATE monitors
            SET open_incident_id = opened.id, withheld_cause = NULL
            FROM unnest(
              ${column("uuid", ({ id }) => id)},
              ${column("uuid", ({ subject_id }) => subject_id)}
            ) AS opened (id, monitor_id)
            WHERE monitors.id = opened.monitor_id`
        }, Effect.orDie),

        remove: Effect.fn("MonitorsRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql<ChangedMonitor>`
            DELETE FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING kind, id AS monitor_id, workspace_id`
          yield* publish(removed, toLiveChange("monitor.deleted"))
        }, Effect.orDie)
      })
    })
  )
}
