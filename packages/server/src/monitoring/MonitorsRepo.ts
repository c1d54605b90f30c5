import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Monitor, MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import { monitorNouns } from "@scheduling/domain/monitors/monitorNouns"
import type { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { failIfKeyTaken } from "../core/index.ts"
import { type Change, LiveChanges, publishAfterCommit } from "../events/index.ts"
import { columnsOf, orWorkspaceNotFound } from "../store/index.ts"
import type { MonitorRow, StoredStatus } from "./MonitorRows.ts"

export interface StatusUpdate {
  readonly monitor_id: string
  readonly status: StoredStatus
  readonly at: number
  readonly open_incident_id: string | null
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
export interface KnownMonitor {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly name: string
  readonly tags: ReadonlyArray<string>
}

/** The noun of a kind at the start of a sentence. */
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
    /** Changes the given fields of a monitor that the transaction has locked, and sets its version. */
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
    /** Says who paused or resumed a monitor. */
    readonly updateAuthor: (
      monitor: Pick<MonitorRow, "id" | "workspace_id">,
      actor: Actor
    ) => Effect.Effect<void>
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
          const updated = yield* sql<KnownMonitor & ChangedMonitor>`
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
          yield* publish(updated, toLiveChange("monitor.status_changed"))
          return updated
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
