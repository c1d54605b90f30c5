import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"

export interface RefusalRow {
  readonly refused_at: Date
  readonly asked_at: Date | null
}

/** Who wants no more mails from a workspace. */
export class RefusalsRepo extends Context.Service<
  RefusalsRepo,
  {
    /** Also where they refused before: it counts from now on. */
    readonly insert: (
      workspaceId: AuthorizedWorkspaceId,
      addressHash: string,
      now: Date
    ) => Effect.Effect<void>
    /** Locks it. */
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      addressHashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<RefusalRow>>
    readonly updateAsked: (
      workspaceId: AuthorizedWorkspaceId,
      addressHashes: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<void>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      addressHashes: ReadonlyArray<string>
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/channels/RefusalsRepo") {
  static readonly layer: Layer.Layer<RefusalsRepo, never, SqlClient.SqlClient> = Layer.effect(
    RefusalsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return RefusalsRepo.of({
        insert: Effect.fn("RefusalsRepo.insert")(function* (workspaceId, addressHash, now) {
          yield* sql`
            INSERT INTO notification_refusals (workspace_id, address_hash, refused_at)
            VALUES (${workspaceId}, ${addressHash}, ${now})
            ON CONFLICT (workspace_id, address_hash) DO UPDATE
            SET refused_at = EXCLUDED.refused_at`
        }, Effect.orDie),

        find: Effect.fn("RefusalsRepo.find")(function* (workspaceId, addressHashes) {
          const rows = yield* sql<RefusalRow>`
            SELECT refused_at, asked_at
            FROM notification_refusals
            WHERE workspace_id = ${workspaceId}
              AND address_hash = ANY (${addressHashes}::text[])
            ORDER BY refused_at DESC
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateAsked: Effect.fn("RefusalsRepo.updateAsked")(function* (
          workspaceId,
          addressHashes,
          now
        ) {
          yield* sql`
              UPDATE notification_refusals
              SET asked_at = ${now}
              WHERE workspace_id = ${workspaceId}
                AND address_hash = ANY (${addressHashes}::text[])`
        }, Effect.orDie),

        remove: Effect.fn("RefusalsRepo.remove")(function* (workspaceId, addressHashes) {
          yield* sql`
            DELETE FROM notification_refusals
            WHERE workspace_id = ${workspaceId}
              AND address_hash = ANY (${addressHashes}::text[])`
        }, Effect.orDie)
      })
    })
  )
}
