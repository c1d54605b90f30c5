import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "../../accounts/index.ts"
import { columnsOf } from "../../store/index.ts"

export interface PingKeyRow {
  readonly workspace_id: string
  readonly key_hash: string
  readonly sealed_key: string
  readonly created_at: Date
}

/** A heartbeat that a ping names by its key. */
export interface NamedHeartbeat {
  readonly key_hash: string
  readonly slug: string
  readonly workspace_id: AuthorizedWorkspaceId
  /** Null if no heartbeat in the workspace has the key `slug`. */
  readonly monitor_id: string | null
  readonly sealed_ping_id: string | null
}

export class PingKeysRepo extends Context.Service<
  PingKeysRepo,
  {
    readonly find: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<Option.Option<PingKeyRow>>
    readonly replace: (row: PingKeyRow) => Effect.Effect<void>
    /**
     * Finds the workspaces that the ping keys belong to, each with its heartbeat that has the key
     * `slug`.
     */
    readonly findHeartbeats: (
      named: ReadonlyArray<Pick<NamedHeartbeat, "key_hash" | "slug">>
    ) => Effect.Effect<ReadonlyArray<NamedHeartbeat>>
  }
>()("@scheduling/server/monitoring/heartbeat/PingKeysRepo") {
  static readonly layer: Layer.Layer<PingKeysRepo, never, SqlClient.SqlClient> = Layer.effect(
    PingKeysRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      PingKeysRepo.of({
        find: Effect.fn("PingKeysRepo.find")(function* (workspaceId) {
          const rows = yield* sql<PingKeyRow>`
            SELECT *
            FROM ping_keys
            WHERE workspace_id = ${workspaceId}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        replace: Effect.fn("PingKeysRepo.replace")(function* (row) {
          yield* sql`
            INSERT INTO ping_keys ${sql.insert({ ...row })}
            ON CONFLICT (workspace_id) DO UPDATE
            SET
              key_hash = EXCLUDED.key_hash,
              sealed_key = EXCLUDED.sealed_key,
              created_at = EXCLUDED.created_at`
        }, Effect.orDie),

        findHeartbeats: Effect.fn("PingKeysRepo.findHeartbeats")(function* (named) {
          const column = columnsOf(named)
          const rows = yield* sql<NamedHeartbeat>`
            SELECT k.key_hash, named.slug, k.workspace_id, m.id AS monitor_id, u.sealed_ping_id
            FROM unnest(
              ${column("text", ({ key_hash }) => key_hash)},
              ${column("text", ({ slug }) => slug)}
            ) AS named (key_hash, slug)
            JOIN ping_keys AS k ON k.key_hash = named.key_hash
            LEFT JOIN monitors AS m
              ON m.workspace_id = k.workspace_id
              AND m.kind = 'heartbeat'
              AND m.key = named.slug
            LEFT JOIN ping_urls AS u ON u.monitor_id = m.id`
          return rows.map((row) => ({ ...row, workspace_id: authorize(row.workspace_id) }))
        }, Effect.orDie)
      })
    )
  )
}
