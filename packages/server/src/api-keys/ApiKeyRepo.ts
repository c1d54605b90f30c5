import type { ApiKey } from "@scheduling/domain/api-keys/ApiKey"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import { ApiKeyId, UserId, type WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "../platform/batched.ts"
import { type AskedPage, askedPages, batchPages } from "../platform/batchPages.ts"
import type { PageRequest } from "../platform/Pages.ts"
import { rowsOf } from "../platform/rows.ts"
import { timestampOf, timestampOrNull } from "../platform/timestamp.ts"

export interface ApiKeyRow {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly key_hash: string
  readonly key_prefix: string
  readonly scopes: ReadonlyArray<Scope>
  readonly created_by: string | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
}

/** What verification needs of a key, and nothing more. */
export interface VerifiedRow extends Pick<
  ApiKeyRow,
  "key_hash" | "key_prefix" | "scopes" | "expires_at" | "revoked_at" | "last_used_at"
> {
  readonly id: ApiKeyId
  readonly workspace_id: WorkspaceId
}

export const isActive = (row: Pick<ApiKeyRow, "expires_at" | "revoked_at">, now: Date): boolean =>
  row.revoked_at === null && (row.expires_at === null || now < row.expires_at)

export const toApiKey = (row: ApiKeyRow, now: Date): ApiKey => ({
  id: ApiKeyId.make(row.id),
  name: row.name,
  key_prefix: row.key_prefix,
  scopes: row.scopes,
  expires_at: timestampOrNull(row.expires_at),
  last_used_at: timestampOrNull(row.last_used_at),
  is_active: isActive(row, now),
  created_at: timestampOf(row.created_at),
  revoked_at: timestampOrNull(row.revoked_at),
  created_by: row.created_by === null ? null : UserId.make(row.created_by)
})

export class ApiKeyRepo extends Context.Service<
  ApiKeyRepo,
  {
    readonly insert: (key: ApiKeyRow) => Effect.Effect<void>
    readonly find: (workspaceId: string, id: string) => Effect.Effect<Option.Option<ApiKeyRow>>
    /** Holds the key until the transaction ends. */
    readonly claim: (workspaceId: string, id: string) => Effect.Effect<Option.Option<ApiKeyRow>>
    /**
     * Batched: requests of one moment share one statement. Never cached, so that a revocation holds at
     * once. One that was revoked is not found: to read its row would take 28 µs, by which it could be
     * told from a key that never was.
     */
    readonly findByHash: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<VerifiedRow>>
    /** Batched, as `findByHash` is. */
    readonly list: (
      workspaceId: string,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** Right only while the workspace is held: two creates at once would both take the last place. */
    readonly count: (
      workspaceId: string,
      now: Date
    ) => Effect.Effect<{ readonly active: number; readonly all: number }>
    /** None where it was revoked before: that time stands. */
    readonly updateRevoked: (
      workspaceId: string,
      id: string,
      now: Date
    ) => Effect.Effect<Option.Option<ApiKeyRow>>
    /** Brings the expiry forward, never back. */
    readonly updateExpiry: (workspaceId: string, id: string, expiresAt: Date) => Effect.Effect<void>
    readonly updateHash: (id: string, from: string, to: string) => Effect.Effect<void>
    /** At most once a minute a key, and only forward: the statement itself decides, on whatever node. */
    readonly updateLastUsed: (uses: ReadonlyMap<string, Date>) => Effect.Effect<void>
    readonly remove: (workspaceId: string, id: string) => Effect.Effect<Option.Option<ApiKeyRow>>
  }
>()("@scheduling/server/api-keys/ApiKeyRepo") {
  static readonly layer: Layer.Layer<ApiKeyRepo, never, SqlClient.SqlClient> = Layer.effect(
    ApiKeyRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const findByHash = yield* batched(findByHashes(sql))
      const listPage = yield* batchPages(listPages(sql))

      return ApiKeyRepo.of({
        insert: Effect.fn("ApiKeyRepo.insert")(function* (key) {
          yield* sql`
            INSERT INTO api_keys
              (id, workspace_id, name, key_hash, key_prefix, scopes, created_by, expires_at, created_at)
            VALUES
              (${key.id}, ${key.workspace_id}, ${key.name}, ${key.key_hash}, ${key.key_prefix},
               ${key.scopes}::text[], ${key.created_by}, ${key.expires_at}, ${key.created_at})`
        }, Effect.orDie),

        find: Effect.fn("ApiKeyRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<ApiKeyRow>`
            SELECT *
            FROM api_keys
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        claim: Effect.fn("ApiKeyRepo.claim")(function* (workspaceId, id) {
          const rows = yield* sql<ApiKeyRow>`
            SELECT *
            FROM api_keys
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByHash,

        list: (workspaceId, page) => listPage({ workspaceId, page }),

        count: Effect.fn("ApiKeyRepo.count")(function* (workspaceId, now) {
          const [row] = yield* sql<{ readonly active: number; readonly all: number }>`
            SELECT
              count(*)::int AS all,
              (count(*) FILTER (
                WHERE revoked_at IS NULL
                  AND (expires_at IS NULL OR expires_at > ${now})
              ))::int AS active
            FROM api_keys
            WHERE workspace_id = ${workspaceId}`
          return row ?? { active: 0, all: 0 }
        }, Effect.orDie),

        updateRevoked: Effect.fn("ApiKeyRepo.updateRevoked")(function* (workspaceId, id, now) {
          const rows = yield* sql<ApiKeyRow>`
            UPDATE api_keys
            SET revoked_at = ${now}
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
              AND revoked_at IS NULL
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateExpiry: Effect.fn("ApiKeyRepo.updateExpiry")(function* (workspaceId, id, expiresAt) {
          yield* sql`
            UPDATE api_keys
            SET expires_at = least(expires_at, ${expiresAt})
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
        }, Effect.orDie),

        updateHash: Effect.fn("ApiKeyRepo.updateHash")(function* (id, from, to) {
          yield* sql`
            UPDATE api_keys
            SET key_hash = ${to}
            WHERE id = ${id}
              AND key_hash = ${from}`
        }, Effect.orDie),

        // SKIP LOCKED: it holds many keys at once and waits for none, so it cannot take part in a
        // deadlock with another node's uses or with the deletion of a workspace.
        updateLastUsed: Effect.fn("ApiKeyRepo.updateLastUsed")(function* (uses) {
          yield* sql`
            UPDATE api_keys
            SET last_used_at = due.at
            FROM (
              SELECT api_keys.id, uses.at
              FROM unnest(${[...uses.keys()]}::uuid[], ${[...uses.values()]}::timestamptz[]) AS uses (id, at)
              JOIN api_keys ON api_keys.id = uses.id
              WHERE last_used_at IS NULL OR last_used_at <= uses.at - interval '1 minute'
              FOR UPDATE OF api_keys SKIP LOCKED
            ) AS due
            WHERE api_keys.id = due.id`
        }, Effect.orDie),

        remove: Effect.fn("ApiKeyRepo.remove")(function* (workspaceId, id) {
          const rows = yield* sql<ApiKeyRow>`
            DELETE FROM api_keys
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie)
      })
    })
  )
}

// ---------------------------------------------------------------------------

const verifiedColumns = [
  "id",
  "workspace_id",
  "key_hash",
  "key_prefix",
  "scopes",
  "expires_at",
  "revoked_at",
  "last_used_at"
] satisfies ReadonlyArray<keyof VerifiedRow>

const verifiedRows = rowsOf<VerifiedRow>(verifiedColumns)

const findByHashes = (sql: SqlClient.SqlClient) => (asked: ReadonlyArray<ReadonlyArray<string>>) =>
  verifiedRows(sql`
    SELECT ${sql.literal(verifiedColumns.join(", "))}
    FROM api_keys
    WHERE key_hash = ANY (${asked.flat()}::text[])
      AND revoked_at IS NULL`).pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const found = new Map(rows.map((row) => [row.key_hash, row]))
      return asked.map((hashes) =>
        Option.fromNullishOr(hashes.map((hash) => found.get(hash)).find((row) => row !== undefined))
      )
    })
  )

const columns = [
  "id",
  "workspace_id",
  "name",
  "key_hash",
  "key_prefix",
  "scopes",
  "created_by",
  "expires_at",
  "revoked_at",
  "last_used_at",
  "created_at"
] satisfies ReadonlyArray<keyof ApiKeyRow>

const rowsOfPages = rowsOf<ApiKeyRow & { readonly n: number }>([...columns, "n"])

const listPages = (sql: SqlClient.SqlClient) => (asked: ReadonlyArray<AskedPage>) =>
  rowsOfPages(sql`
    SELECT key.*, asked.n
    FROM ${askedPages(sql, asked)}
    CROSS JOIN LATERAL (
      SELECT ${sql.literal(columns.join(", "))}
      FROM api_keys
      WHERE api_keys.workspace_id = asked.workspace_id
        AND api_keys.id < asked.before
      ORDER BY id DESC
      LIMIT asked.rows
    ) AS key`).pipe(Effect.orDie)
