import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  NotificationChannel,
  NotificationKind
} from "@scheduling/domain/notifications/NotificationChannel"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { NotificationChannelId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { RecordedDefinition } from "../../accounts/index.ts"
import { failIfKeyTaken } from "../../core/index.ts"
import {
  countRows,
  isListedAfter,
  type ListFilters,
  listOrder,
  type ListRequest,
  matchesFilters,
  orWorkspaceNotFound,
  type PageRow,
  sortColumn,
  textArray,
  timestampOf
} from "../../store/index.ts"
import { updateNextDeliveries } from "../sending/updateNextDeliveries.ts"
import type { SealedConfig } from "./ChannelSecrets.ts"

export interface ChannelRow extends SealedConfig {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly version: number
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly kind: NotificationKind
  readonly paused: boolean
  readonly paused_reason: string | null
  readonly confirmed: boolean
  /**
   * True if the channel was confirmed because its address belongs to a member, and not through a
   * link.
   */
  readonly by_membership: boolean
  readonly last_status: "delivered" | "again" | "never" | null
  readonly last_error: string | null
  readonly last_at: Date | null
  readonly created_by: Actor | null
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const toChannel = (row: ChannelRow): NotificationChannel => ({
  id: NotificationChannelId.make(row.id),
  workspace_id: WorkspaceId.make(row.workspace_id),
  key: row.key,
  version: row.version,
  name: row.name,
  tags: row.tags,
  kind: row.kind,
  config: row.config,
  paused: row.paused,
  paused_reason: row.paused_reason,
  confirmed: row.confirmed,
  last_delivery:
    row.last_at === null
      ? null
      : {
          at: timestampOf(row.last_at),
          delivered: row.last_status === "delivered",
          error: row.last_error
        },
  created_by: row.created_by,
  updated_by: row.updated_by ?? row.created_by,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

type DefinedRow = Omit<ChannelRow, "last_status" | "last_error" | "last_at">

const shownChannel = ({ config, key, kind, name, paused, tags }: DefinedRow) => ({
  name,
  key,
  tags,
  kind,
  config,
  paused
})

/** Returns the stored definition of a channel, with its encrypted secrets. */
export const storedChannel = (row: DefinedRow) => ({
  ...shownChannel(row),
  config: { shown: row.config, sealed_secrets: row.sealed_secrets }
})

export const channelDefinition = (row: DefinedRow): RecordedDefinition => ({
  version: row.version,
  updated_at: row.updated_at,
  updated_by: row.updated_by ?? row.created_by,
  shown: shownChannel(row),
  stored: storedChannel(row)
})

export interface ConsentRefusalRow {
  readonly refused_at: Date
  /** When the address's owner was last asked again for consent. */
  readonly asked_at: Date | null
}

/** Reads and writes channels, and the addresses that refuse emails from a workspace. */
export class ChannelsRepo extends Context.Service<ChannelsRepo>()(
  "@scheduling/server/notifications/channels/ChannelsRepo",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const listWhere = Effect.fn("ChannelsRepo.listWhere")(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment
      ) {
        return yield* sql<ChannelRow>`
          SELECT *
          FROM notification_channels
          WHERE workspace_id = ${workspaceId}
            AND ${condition}`
      }, Effect.orDie)

      const findWhere = (workspaceId: AuthorizedWorkspaceId, condition: Statement.Fragment) =>
        Effect.map(listWhere(workspaceId, condition), ([row]) => Option.fromNullishOr(row))

      return {
        insert: Effect.fn("ChannelsRepo.insert")(
          function* (channel: Omit<ChannelRow, "last_status" | "last_error" | "last_at">) {
            yield* sql`
              INSERT INTO notification_channels
              ${sql.insert({
                ...channel,
                tags: textArray(channel.tags),
                config: JSON.stringify(channel.config),
                created_by: JSON.stringify(channel.created_by),
                updated_by: null
              })}`
          },
          (insertion, { key }) =>
            failIfKeyTaken("notification_channel", "A notification channel", key)(insertion),
          orWorkspaceNotFound
        ),

        find: (workspaceId: AuthorizedWorkspaceId, id: string) =>
          findWhere(workspaceId, sql`id = ${id}`),

        findByKey: (workspaceId: AuthorizedWorkspaceId, key: string) =>
          findWhere(workspaceId, sql`key = ${key}`),

        /**
         * Locks the row, so that nobody changes the channel or records an attempt until the commit.
         */
        findForUpdate: (workspaceId: AuthorizedWorkspaceId, id: string) =>
          findWhere(workspaceId, sql`id = ${id} FOR UPDATE`),

        list: (workspaceId: AuthorizedWorkspaceId, filters: ListFilters, page: ListRequest) =>
          Effect.orDie(sql<ChannelRow & PageRow>`
            SELECT * ${sql.literal(sortColumn(page))}
            FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              ${matchesFilters(sql, "notification_channels", filters)}
              AND ${isListedAfter(sql, page, "id")}
            ORDER BY ${sql.literal(listOrder(page, "id"))}
            LIMIT ${page.limit + 1}`),

        count: (workspaceId: AuthorizedWorkspaceId, filters: ListFilters) =>
          Effect.orDie(
            countRows(
              sql,
              sql`
                SELECT
                FROM notification_channels
                WHERE workspace_id = ${workspaceId}
                  ${matchesFilters(sql, "notification_channels", filters)}`
            )
          ),

        listByIds: (workspaceId: AuthorizedWorkspaceId, ids: ReadonlyArray<string>) =>
          listWhere(workspaceId, sql`id = ANY (${ids}::uuid[])`),

        /**
         * Returns those of the given ids that belong to channels of the workspace. These channels
         * cannot be deleted until the commit.
         */
        findIds: Effect.fn("ChannelsRepo.findIds")(function* (
          workspaceId: AuthorizedWorkspaceId,
          ids: ReadonlyArray<string>
        ) {
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
          function* (workspaceId: AuthorizedWorkspaceId, channel: ChannelRow) {
            yield* sql`
              UPDATE notification_channels
              SET
                key = ${channel.key},
                version = ${channel.version},
                name = ${channel.name},
                tags = ${channel.tags}::text[],
                config = ${JSON.stringify(channel.config)}::jsonb,
                sealed_secrets = ${channel.sealed_secrets},
                paused = ${channel.paused},
                paused_reason = ${channel.paused_reason},
                confirmed = ${channel.confirmed},
                by_membership = ${channel.by_membership},
                updated_by = ${JSON.stringify(channel.updated_by)}::jsonb,
                updated_at = ${channel.updated_at}
              WHERE workspace_id = ${workspaceId}
                AND id = ${channel.id}`
            // The next delivery depends on `confirmed`: an unconfirmed channel is sent only the
            // email that requests consent.
            yield* updateNextDeliveries(sql, [channel.id], channel.updated_at)
          },
          (change, _, { key }) =>
            failIfKeyTaken("notification_channel", "A notification channel", key)(change),
          Effect.catchTag("SqlError", Effect.die)
        ),

        remove: Effect.fn("ChannelsRepo.remove")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: string
        ) {
          yield* sql`
            DELETE FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
        }, Effect.orDie),

        /**
         * Finds the channel of a link in an email. The link itself proves that its holder has
         * permission.
         */
        findByLink: Effect.fn("ChannelsRepo.findByLink")(function* (id: string) {
          const rows = yield* sql<ChannelRow>`
            SELECT *
            FROM notification_channels
            WHERE id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        /** Returns false if the channel was deleted, or no longer sends to the address. */
        confirmByLink: Effect.fn("ChannelsRepo.confirmByLink")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: string,
          to: string,
          now: Date
        ) {
          const confirmed = yield* sql`
            UPDATE notification_channels
            SET confirmed = true, by_membership = false, updated_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
              AND config ->> 'to' = ${to}
            RETURNING id`
          if (confirmed.length === 0) return false
          yield* updateNextDeliveries(sql, [id], now)
          return true
        }, Effect.orDie),

        /** Confirms the channels to a member's address, unless the address refuses emails. */
        confirmOfMember: Effect.fn("ChannelsRepo.confirmOfMember")(function* (
          userId: string,
          email: string,
          addressHashes: ReadonlyArray<string>,
          now: Date
        ) {
          const confirmed = yield* sql<{ readonly id: string }>`
            UPDATE notification_channels
            SET confirmed = true, by_membership = true, updated_at = ${now}
            WHERE kind = 'email'
              AND NOT confirmed
              AND config ->> 'to' = ${email}
              AND workspace_id IN (
                SELECT workspace_id
                FROM memberships
                WHERE user_id = ${userId}
              )
              AND workspace_id NOT IN (
                SELECT workspace_id
                FROM notification_refusals
                WHERE address_hash = ANY (${addressHashes}::text[])
              )
            RETURNING id`
          yield* updateNextDeliveries(
            sql,
            confirmed.map(({ id }) => id),
            now
          )
        }, Effect.orDie),

        updateUnconfirmed: Effect.fn("ChannelsRepo.updateUnconfirmed")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: string,
          now: Date
        ) {
          yield* sql`
            UPDATE notification_channels
            SET confirmed = false, by_membership = false, updated_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
        }, Effect.orDie),

        /** Returns the channels to the address and locks their rows. */
        listTo: (workspaceId: AuthorizedWorkspaceId, email: string) =>
          listWhere(
            workspaceId,
            sql`
              kind = 'email'
              AND config ->> 'to' = ${email}
            ORDER BY id
            FOR UPDATE`
          ),

        /**
         * Returns the channels to the address that were confirmed only by a membership, and locks
         * their rows.
         */
        listByMembership: Effect.fn("ChannelsRepo.listByMembership")(function* (
          workspaceIds: ReadonlyArray<string>,
          email: string
        ) {
          return yield* sql<ChannelRow>`
            SELECT *
            FROM notification_channels
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])
              AND by_membership
              AND config ->> 'to' = ${email}
            ORDER BY id
            FOR UPDATE`
        }, Effect.orDie),

        /** Returns whether the address is the verified address of a member of the workspace. */
        isMember: Effect.fn("ChannelsRepo.isMember")(function* (
          workspaceId: AuthorizedWorkspaceId,
          email: string
        ) {
          const rows = yield* sql`
            SELECT users.id
            FROM users
            JOIN memberships ON memberships.user_id = users.id
            WHERE users.email = ${email}
              AND users.email_verified_at IS NOT NULL
              AND memberships.workspace_id = ${workspaceId}`
          return rows.length > 0
        }, Effect.orDie),

        /**
         * Returns the lane of the account that created the workspace. The lane identifies the
         * account, because all of an account's workspaces have the same lane.
         */
        findAccount: Effect.fn("ChannelsRepo.findAccount")(function* (
          workspaceId: AuthorizedWorkspaceId
        ) {
          const rows = yield* sql<{ readonly lane: bigint }>`
            SELECT lane
            FROM workspaces
            WHERE id = ${workspaceId}`
          return String(rows[0]?.lane)
        }, Effect.orDie),

        /** Returns an address's latest refusal, and locks all of its refusals. */
        findRefusal: Effect.fn("ChannelsRepo.findRefusal")(function* (
          workspaceId: AuthorizedWorkspaceId,
          addressHashes: ReadonlyArray<string>
        ) {
          const rows = yield* sql<ConsentRefusalRow>`
            SELECT refused_at, asked_at
            FROM notification_refusals
            WHERE workspace_id = ${workspaceId}
              AND address_hash = ANY (${addressHashes}::text[])
            ORDER BY refused_at DESC
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        /**
         * Inserts an address's refusal. If the address has already refused, the refusal's time is
         * updated.
         */
        insertRefusal: Effect.fn("ChannelsRepo.insertRefusal")(function* (
          workspaceId: AuthorizedWorkspaceId,
          addressHash: string,
          now: Date
        ) {
          yield* sql`
            INSERT INTO notification_refusals (workspace_id, address_hash, refused_at)
            VALUES (${workspaceId}, ${addressHash}, ${now})
            ON CONFLICT (workspace_id, address_hash) DO UPDATE
            SET refused_at = EXCLUDED.refused_at`
        }, Effect.orDie),

        updateAsked: Effect.fn("ChannelsRepo.updateAsked")(function* (
          workspaceId: AuthorizedWorkspaceId,
          addressHashes: ReadonlyArray<string>,
          now: Date
        ) {
          yield* sql`
            UPDATE notification_refusals
            SET asked_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND address_hash = ANY (${addressHashes}::text[])`
        }, Effect.orDie),

        removeRefusals: Effect.fn("ChannelsRepo.removeRefusals")(function* (
          workspaceId: AuthorizedWorkspaceId,
          addressHashes: ReadonlyArray<string>
        ) {
          yield* sql`
            DELETE FROM notification_refusals
            WHERE workspace_id = ${workspaceId}
              AND address_hash = ANY (${addressHashes}::text[])`
        }, Effect.orDie)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}
