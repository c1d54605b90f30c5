import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Role } from "@scheduling/domain/members/Role"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "../access/authorize.ts"
import { ownedAlone } from "../access/ownedAlone.ts"

interface Removed {
  readonly id: string
}

interface RemovedRole extends Removed {
  readonly role: Role
  readonly email: string
}

export class ReclaimingRepo extends Context.Service<
  ReclaimingRepo,
  {
    /** Locks the workspaces that nobody else owns until the transaction ends. */
    readonly lockOwnedAlone: (userId: string) => Effect.Effect<ReadonlyArray<AuthorizedWorkspaceId>>
    readonly removeMembersBut: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string
    ) => Effect.Effect<ReadonlyArray<RemovedRole>>
    readonly removeInvitations: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<ReadonlyArray<RemovedRole>>
    readonly revokeKeys: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date
    ) => Effect.Effect<ReadonlyArray<Removed>>
    /** Their agents are not heard any more, and what those hold is taken back. */
    readonly endWorkers: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date
    ) => Effect.Effect<ReadonlyArray<Removed>>
  }
>()("@scheduling/server/auth/ReclaimingRepo") {
  static readonly layer: Layer.Layer<ReclaimingRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReclaimingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return ReclaimingRepo.of({
        lockOwnedAlone: Effect.fn("ReclaimingRepo.lockOwnedAlone")(function* (userId) {
          const rows = yield* sql<Removed>`
            SELECT id
            FROM workspaces
            WHERE ${ownedAlone(sql, userId)}
            ORDER BY id
            FOR NO KEY UPDATE`
          return rows.map(({ id }) => authorize(id))
        }, Effect.orDie),

        removeMembersBut: Effect.fn("ReclaimingRepo.removeMembersBut")(function* (
          workspaceId,
          userId
        ) {
          return yield* sql<RemovedRole>`
              DELETE FROM memberships
              USING users
              WHERE workspace_id = ${workspaceId}
                AND user_id <> ${userId}
                AND users.id = user_id
              RETURNING user_id AS id, role, email`
        }, Effect.orDie),

        removeInvitations: Effect.fn("ReclaimingRepo.removeInvitations")(function* (workspaceId) {
          return yield* sql<RemovedRole>`
            DELETE FROM invitations
            WHERE workspace_id = ${workspaceId}
            RETURNING id, role, email`
        }, Effect.orDie),

        revokeKeys: Effect.fn("ReclaimingRepo.revokeKeys")(function* (workspaceId, now) {
          return yield* sql<Removed>`
            UPDATE api_keys
            SET revoked_at = ${now}, warn_at = NULL
            WHERE workspace_id = ${workspaceId}
              AND revoked_at IS NULL
            RETURNING id`
        }, Effect.orDie),

        endWorkers: Effect.fn("ReclaimingRepo.endWorkers")(function* (workspaceId, now) {
          const workers = yield* sql<Removed>`
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
