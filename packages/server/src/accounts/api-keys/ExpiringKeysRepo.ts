import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import type { ApiKeyRow } from "./ApiKeyRepo.ts"

export type ExpiringRow = Pick<ApiKeyRow, "id" | "workspace_id" | "name" | "key_prefix"> & {
  readonly expires_at: Date
}

export class ExpiringKeysRepo extends Context.Service<
  ExpiringKeysRepo,
  {
    /** Locks keys until the transaction ends. Skips keys that are already locked. */
    readonly claim: (now: Date, limit: number) => Effect.Effect<ReadonlyArray<ExpiringRow>>
    readonly updateWarnAt: (
      warnings: ReadonlyArray<{ readonly id: string; readonly warn_at: Date | null }>
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/api-keys/ExpiringKeysRepo") {
  static readonly layer: Layer.Layer<ExpiringKeysRepo, never, SqlClient.SqlClient> = Layer.effect(
    ExpiringKeysRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return ExpiringKeysRepo.of({
        claim: Effect.fn("ExpiringKeysRepo.claim")(function* (now, limit) {
          return yield* sql<ExpiringRow>`
            SELECT id, workspace_id, name, key_prefix, expires_at
            FROM api_keys
            WHERE warn_at <= ${now}
            ORDER BY warn_at
            LIMIT ${limit}
            FOR UPDATE SKIP LOCKED`
        }, Effect.orDie),

        updateWarnAt: Effect.fn("ExpiringKeysRepo.updateWarnAt")(function* (warnings) {
          const column = columnsOf(warnings)
          yield* sql`
            UPDATE api_keys
            SET warn_at = warnings.warn_at
            FROM unnest(
              ${column("uuid", ({ id }) => id)},
              ${column("timestamptz", ({ warn_at }) => warn_at)}
            ) AS warnings (id, warn_at)
            WHERE api_keys.id = warnings.id`
        }, Effect.orDie)
      })
    })
  )
}
