import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export class ConfirmingRepo extends Context.Service<
  ConfirmingRepo,
  {
    /** Whether the address is that of a member, and verified. */
    readonly isMember: (workspaceId: AuthorizedWorkspaceId, email: string) => Effect.Effect<boolean>
    /** By what the account that made the workspace is known in all that it makes: its lane. */
    readonly findAccount: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<string>
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
        }, Effect.orDie)
      })
    })
  )
}
