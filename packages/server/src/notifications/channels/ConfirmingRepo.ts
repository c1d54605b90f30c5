import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ChannelRow, columnNames } from "./ChannelsRepo.ts"

export class ConfirmingRepo extends Context.Service<
  ConfirmingRepo,
  {
    /** Whether the address is that of a member, and verified. */
    readonly isMember: (workspaceId: AuthorizedWorkspaceId, email: string) => Effect.Effect<boolean>
    /** By what the account that made the workspace is known in all that it makes: its lane. */
    readonly findAccount: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<string>
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
            WHERE users.email = ${email.toLowerCase()}
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

        listByMembership: Effect.fn("ConfirmingRepo.listByMembership")(function* (
          workspaceIds,
          email
        ) {
          return yield* sql<ChannelRow>`
              SELECT ${sql.literal(columnNames.join(", "))}
              FROM notification_channels
              WHERE workspace_id = ANY (${workspaceIds}::uuid[])
                AND by_membership
                AND lower(config ->> 'to') = ${email}
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
