import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ChannelRow, columnNames } from "./ChannelsRepo.ts"

export class ConfirmingRepo extends Context.Service<
  ConfirmingRepo,
  {
    /** Whether the address is that of a member, and verified. */
    readonly isMember: (workspaceId: AuthorizedWorkspaceId, email: string) => Effect.Effect<boolean>
    /** The lane of the account that made the workspace. Everything the account makes has it. */
    readonly findAccount: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<string>
    /** Those to the address. Locks them. */
    readonly listTo: (
      workspaceId: AuthorizedWorkspaceId,
      email: string
    ) => Effect.Effect<ReadonlyArray<ChannelRow>>
    /** Those to the address of a member, where it did not refuse. */
    readonly confirmOfMember: (
      userId: string,
      email: string,
      addressHashes: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<void>
    /** Those to the address that only a membership confirmed. Locks them. */
    readonly listByMembership: (
      workspaceIds: ReadonlyArray<string>,
      email: string
    ) => Effect.Effect<ReadonlyArray<ChannelRow>>
    readonly updateUnconfirmed: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      now: Date
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/channels/ConfirmingRepo") {
  static readonly layer: Layer.Layer<ConfirmingRepo, never, SqlClient.SqlClient> = Layer.effect(
    ConfirmingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return ConfirmingRepo.of({
        isMember: Effect.fn("ConfirmingRepo.isMember")(function* (workspaceId, email) {
          const rows = yield* sql`
            SELECT users.id
            FROM users
            JOIN memberships ON memberships.user_id = users.id
            WHERE users.email = ${email}
              AND users.email_verified_at IS NOT NULL
              AND memberships.workspace_id = ${workspaceId}`
          return rows.length > 0
        }, Effect.orDie),

        findAccount: Effect.fn("ConfirmingRepo.findAccount")(function* (workspaceId) {
          const rows = yield* sql<{ readonly lane: bigint }>`
            SELECT lane
            FROM workspaces
            WHERE id = ${workspaceId}`
          return String(rows[0]?.lane)
        }, Effect.orDie),

        listTo: Effect.fn("ConfirmingRepo.listTo")(function* (workspaceId, email) {
          return yield* sql<ChannelRow>`
            SELECT ${sql.literal(columnNames.join(", "))}
            FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              AND kind = 'email'
              AND config ->> 'to' = ${email}
            ORDER BY id
            FOR UPDATE`
        }, Effect.orDie),

        confirmOfMember: Effect.fn("ConfirmingRepo.confirmOfMember")(function* (
          userId,
          email,
          addressHashes,
          now
        ) {
          yield* sql`
            UPDATE notification_channels
            SET confirmed = true, by_membership = true, updated_at = ${now}, next_at = ${now}
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
              )`
        }, Effect.orDie),

        listByMembership: Effect.fn("ConfirmingRepo.listByMembership")(function* (
          workspaceIds,
          email
        ) {
          return yield* sql<ChannelRow>`
              SELECT ${sql.literal(columnNames.join(", "))}
              FROM notification_channels
              WHERE workspace_id = ANY (${workspaceIds}::uuid[])
                AND by_membership
                AND config ->> 'to' = ${email}
              ORDER BY id
              FOR UPDATE`
        }, Effect.orDie),

        updateUnconfirmed: Effect.fn("ConfirmingRepo.updateUnconfirmed")(function* (
          workspaceId,
          id,
          now
        ) {
          yield* sql`
              UPDATE notification_channels
              SET confirmed = false, by_membership = false, updated_at = ${now}
              WHERE workspace_id = ${workspaceId}
                AND id = ${id}`
        }, Effect.orDie)
      })
    })
  )
}
