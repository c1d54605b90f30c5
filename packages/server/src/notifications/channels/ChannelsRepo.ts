import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  NotificationChannel,
  NotificationKind
} from "@scheduling/domain/notifications/NotificationChannel"
import type { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import { NotificationChannelId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { keyIsTaken } from "../../core/index.ts"
import { intoWorkspace, type PageRequest, timestampOf } from "../../store/index.ts"
import type { SealedConfig } from "./ChannelSecrets.ts"

export interface ChannelRow extends SealedConfig {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly name: string
  readonly kind: NotificationKind
  readonly enabled: boolean
  readonly disabled_reason: string | null
  readonly confirmed: boolean
  /** Confirmed by no link, but because the address is that of a member. */
  readonly by_membership: boolean
  readonly last_status: "delivered" | "again" | "never" | null
  readonly last_error: string | null
  readonly last_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const toChannel = (row: ChannelRow): NotificationChannel => ({
  id: NotificationChannelId.make(row.id),
  workspace_id: WorkspaceId.make(row.workspace_id),
  key: row.key,
  name: row.name,
  kind: row.kind,
  config: row.config,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  confirmed: row.confirmed,
  last_delivery:
    row.last_at === null
      ? null
      : {
          at: timestampOf(row.last_at),
          delivered: row.last_status === "delivered",
          error: row.last_error
        },
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class ChannelsRepo extends Context.Service<
  ChannelsRepo,
  {
    readonly insert: (
      channel: Omit<ChannelRow, "last_status" | "last_error" | "last_at">
    ) => Effect.Effect<void, NotFound | Conflict>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ChannelRow>>
    readonly findByKey: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<ChannelRow>>
    /** Locks the row: nothing is sent to it and no other change touches it until the commit. */
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ChannelRow>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: { readonly key?: string },
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ChannelRow>>
    /** Those of the ids that are channels of the workspace. They stay until the commit. */
    readonly findIds: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlySet<string>>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      channel: ChannelRow
    ) => Effect.Effect<void, Conflict>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<boolean>
    /** By the link of a mail, which is the proof that somebody may. */
    readonly findByLink: (id: string) => Effect.Effect<Option.Option<ChannelRow>>
    readonly confirmByLink: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      now: Date
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/channels/ChannelsRepo") {
  static readonly layer: Layer.Layer<ChannelsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ChannelsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(columnNames.join(", "))

      const findWhere = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment
      ) {
        const rows = yield* sql<ChannelRow>`
          SELECT ${columns}
          FROM notification_channels
          WHERE workspace_id = ${workspaceId}
            AND ${condition}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      return ChannelsRepo.of({
        insert: Effect.fn("ChannelsRepo.insert")(
          function* (channel) {
            yield* sql`
              INSERT INTO notification_channels
              ${sql.insert({ ...channel, config: JSON.stringify(channel.config) })}`
          },
          Effect.catchReason("SqlError", "UniqueViolation", () => keyIsTaken),
          intoWorkspace
        ),

        find: (workspaceId, id) => findWhere(workspaceId, sql`id = ${id}`),

        findByKey: (workspaceId, key) => findWhere(workspaceId, sql`key = ${key}`),

        findForUpdate: Effect.fn("ChannelsRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<ChannelRow>`
            SELECT ${columns}
            FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fn("ChannelsRepo.list")(function* (workspaceId, { key }, page) {
          return yield* sql<ChannelRow>`
            SELECT ${columns}
            FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              ${key === undefined ? sql.literal("") : sql`AND key = ${key}`}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        findIds: Effect.fn("ChannelsRepo.findIds")(function* (workspaceId, ids) {
          const rows = yield* sql<{ readonly id: string }>`
            SELECT id
            FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              AND id = ANY (${ids}::uuid[])
            ORDER BY id
            FOR KEY SHARE`
          return new Set(rows.map(({ id }) => id))
        }, Effect.orDie),

        update: Effect.fn("ChannelsRepo.update")(
          function* (workspaceId, channel) {
            yield* sql`
              UPDATE notification_channels
              SET
                key = ${channel.key},
                name = ${channel.name},
                config = ${JSON.stringify(channel.config)}::jsonb,
                sealed_secrets = ${channel.sealed_secrets},
                enabled = ${channel.enabled},
                disabled_reason = ${channel.disabled_reason},
                confirmed = ${channel.confirmed},
                by_membership = ${channel.by_membership},
                updated_at = ${channel.updated_at}
              WHERE workspace_id = ${workspaceId}
                AND id = ${channel.id}`
          },
          Effect.catchReason("SqlError", "UniqueViolation", () => keyIsTaken),
          Effect.catchTag("SqlError", Effect.die)
        ),

        remove: Effect.fn("ChannelsRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql`
            DELETE FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING id`
          return removed.length > 0
        }, Effect.orDie),

        findByLink: Effect.fn("ChannelsRepo.findByLink")(function* (id) {
          const rows = yield* sql<ChannelRow>`
            SELECT ${columns}
            FROM notification_channels
            WHERE id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        confirmByLink: Effect.fn("ChannelsRepo.confirmByLink")(function* (workspaceId, id, now) {
          yield* sql`
            UPDATE notification_channels
            SET confirmed = true, by_membership = false, updated_at = ${now}, next_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
        }, Effect.orDie)
      })
    })
  )
}

export const columnNames = [
  "id",
  "workspace_id",
  "key",
  "name",
  "kind",
  "config",
  "sealed_secrets",
  "enabled",
  "disabled_reason",
  "confirmed",
  "by_membership",
  "last_status",
  "last_error",
  "last_at",
  "created_at",
  "updated_at"
] satisfies ReadonlyArray<keyof ChannelRow>
