import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "./access/authorize.ts"
import { ownedAlone } from "./access/ownedAlone.ts"

interface Named {
  readonly id: string
}

export class ReclaimingRepo extends Context.Service<
  ReclaimingRepo,
  {
    /** Locks the workspaces that nobody else owns until the transaction ends. */
    readonly lockOwnedAlone: (userId: string) => Effect.Effect<ReadonlyArray<AuthorizedWorkspaceId>>
    /** Refuses the agents of these workers from now on and takes back their runs. */
    readonly endWorkers: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date
    ) => Effect.Effect<ReadonlyArray<Named>>
  }
>()("@scheduling/server/accounts/ReclaimingRepo") {
  static readonly layer: Layer.Layer<ReclaimingRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReclaimingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return ReclaimingRepo.of({
        lockOwnedAlone: Effect.fn("ReclaimingRepo.lockOwnedAlone")(function* (userId) {
          const rows = yield* sql<Named>`
            SELECT id
            FROM workspaces
            WHERE ${ownedAlone(sql, userId)}
            ORDER BY id
            FOR NO KEY UPDATE`
          return rows.map(({ id }) => authorize(id))
        }, Effect.orDie),

        endWorkers: Effect.fn("ReclaimingRepo.endWorkers")(function* (workspaceId, now) {
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
