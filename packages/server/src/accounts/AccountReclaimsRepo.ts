import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "./access/authorize.ts"
import { isSoleOwner } from "./access/isSoleOwner.ts"

interface Named {
  readonly id: string
}

export class AccountReclaimsRepo extends Context.Service<
  AccountReclaimsRepo,
  {
    readonly lockSolelyOwned: (
      userId: string
    ) => Effect.Effect<ReadonlyArray<AuthorizedWorkspaceId>>
    /** Makes the tokens of the workspace's workers expire, and ends the agents' sessions. */
    readonly revokeWorkers: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date
    ) => Effect.Effect<ReadonlyArray<Named>>
  }
>()("@scheduling/server/accounts/AccountReclaimsRepo") {
  static readonly layer: Layer.Layer<AccountReclaimsRepo, never, SqlClient.SqlClient> =
    Layer.effect(
      AccountReclaimsRepo,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient

        return AccountReclaimsRepo.of({
          lockSolelyOwned: Effect.fn("AccountReclaimsRepo.lockSolelyOwned")(function* (userId) {
            const rows = yield* sql<Named>`
            SELECT id
            FROM workspaces
            WHERE ${isSoleOwner(sql, userId)}
            ORDER BY id
            FOR NO KEY UPDATE`
            return rows.map(({ id }) => authorize(id))
          }, Effect.orDie),

          revokeWorkers: Effect.fn("AccountReclaimsRepo.revokeWorkers")(function* (
            workspaceId,
            now
          ) {
            const workers = yield* sql<Named>`
            SELECT id
            FROM workers
            WHERE workspace_id = ${workspaceId}
            ORDER BY id
            FOR UPDATE`
            yield* sql`
            UPDATE worker_tokens
            SET expires_at = ${now}
            FROM workers
            WHERE workers.workspace_id = ${workspaceId}
              AND workers.id = worker_tokens.worker_id
              AND (expires_at IS NULL OR expires_at > ${now})`
            yield* sql`
            UPDATE nodes
            SET died_at = now()
            FROM workers
            WHERE workers.workspace_id = ${workspaceId}
              AND nodes.id = workers.node_id
              AND nodes.died_at IS NULL`
            return workers
          }, Effect.orDie)
        })
      })
    )
}
