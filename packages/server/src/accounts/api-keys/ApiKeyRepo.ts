import type { ApiKey } from "@scheduling/domain/api-keys/ApiKey"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { ApiKeyId, UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import {
  batchRequests,
  batchPageReads,
  type PageRequest,
  type RequestedPage,
  requestedPages,
  rowReader,
  timestampOf,
  timestampOrNull
} from "../../store/index.ts"

export interface ApiKeyRow {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly name: string
  readonly key_hash: string
  readonly key_prefix: string
  readonly scopes: ReadonlyArray<Scope>
  readonly allowed_ips: ReadonlyArray<string> | null
  readonly created_by: string | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
}

export interface LockedKeyRow extends ApiKeyRow {
  /** The key that replaces this one. Null if the key was not rotated. */
  readonly successor_id: string | null
}

export interface VerifiedKeyRow extends Omit<
  ApiKeyRow,
  "id" | "workspace_id" | "created_by" | "created_at"
> {
  readonly id: ApiKeyId
  readonly workspace_id: string
  readonly lane: bigint
}

export const isActive = (row: Pick<ApiKeyRow, "expires_at" | "revoked_at">, now: Date): boolean =>
  row.revoked_at === null && (row.expires_at === null || now < row.expires_at)

export const toApiKey = (row: ApiKeyRow, now: Date): ApiKey => ({
  id: ApiKeyId.make(row.id),
  name: row.name,
  key_prefix: row.key_prefix,
  scopes: row.scopes,
  allowed_ips: row.allowed_ips,
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
    /** Inserts a key. `warnAt` is the time of its first expiry notice. */
    readonly insert: (key: ApiKeyRow, warnAt: Date | null) => Effect.Effect<void>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ApiKeyRow>>
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<LockedKeyRow>>
    /**
     * Finds a key. Concurrent requests share one statement. The result is not cached, so that a
     * revocation takes effect immediately. Revoked keys are excluded: reading a revoked key's row
     * would take 28 µs more, and this difference would reveal that the key once existed.
     */
    readonly findByHash: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<VerifiedKeyRow>>
    /** Lists keys. Concurrent requests share one statement. */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /**
     * Revokes a key, or returns none if it is already revoked. A key keeps the time of its first
     * revocation.
     */
    readonly updateRevoked: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      now: Date
    ) => Effect.Effect<Option.Option<ApiKeyRow>>
    /** Revokes all keys of a workspace, and returns the keys that were not already revoked. */
    readonly updateAllRevoked: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date
    ) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /**
     * Revokes the key with this hash. Returns none if there is no such key or it is already
     * revoked.
     */
    readonly updateRevokedByHash: (
      hashes: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<Option.Option<ApiKeyRow>>
    /**
     * Records a rotation, which can only bring the key's expiry forward. The key receives no more
     * expiry notices, because it has a successor.
     */
    readonly updateRotated: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      successorId: string,
      expiresAt: Date
    ) => Effect.Effect<void>
    readonly updateHash: (id: ApiKeyId, from: string, to: string) => Effect.Effect<void>
    /**
     * Writes when keys were last used, at most once per minute per key. Never writes an earlier
     * time than the stored one. The statement itself ensures both, so they hold across all nodes.
     */
    readonly updateLastUsed: (uses: ReadonlyMap<string, Date>) => Effect.Effect<void>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ApiKeyRow>>
  }
>()("@scheduling/server/accounts/api-keys/ApiKeyRepo") {
  static readonly layer: Layer.Layer<ApiKeyRepo, never, SqlClient.SqlClient> = Layer.effect(
    ApiKeyRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const findByHash = yield* batchRequests(findByHashes(sql))
      const listPage = yield* batchPageReads(listPages(sql))

      const revoke = (which: Statement.Fragment, now: Date) => sql<ApiKeyRow>`
        UPDATE api_keys
        SET revoked_at = ${now}, warn_at = NULL
        WHERE ${which}
          AND revoked_at IS NULL
        RETURNING *`

      return ApiKeyRepo.of({
        insert: Effect.fn("ApiKeyRepo.insert")(function* (key, warnAt) {
          yield* sql`
            INSERT INTO api_keys
              (id, workspace_id, name, key_hash, key_prefix, scopes, allowed_ips, created_by,
               expires_at, warn_at, created_at)
            VALUES
              (${key.id}, ${key.workspace_id}, ${key.name}, ${key.key_hash}, ${key.key_prefix},
               ${key.scopes}::text[], ${key.allowed_ips}::text[], ${key.created_by},
               ${key.expires_at}, ${warnAt}, ${key.created_at})`
        }, Effect.orDie),

        find: Effect.fn("ApiKeyRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<ApiKeyRow>`
            SELECT *
            FROM api_keys
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findForUpdate: Effect.fn("ApiKeyRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<LockedKeyRow>`
            SELECT *
            FROM api_keys
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByHash,

        list: (workspaceId, page) => listPage({ workspaceId, page }),

        updateRevoked: Effect.fn("ApiKeyRepo.updateRevoked")(function* (workspaceId, id, now) {
          const rows = yield* revoke(sql`workspace_id = ${workspaceId} AND id = ${id}`, now)
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateAllRevoked: Effect.fn("ApiKeyRepo.updateAllRevoked")(function* (workspaceId, now) {
          return yield* revoke(sql`workspace_id = ${workspaceId}`, now)
        }, Effect.orDie),

        updateRevokedByHash: Effect.fn("ApiKeyRepo.updateRevokedByHash")(function* (hashes, now) {
          const rows = yield* revoke(sql`key_hash = ANY (${hashes}::text[])`, now)
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateRotated: Effect.fn("ApiKeyRepo.updateRotated")(function* (
          workspaceId,
          id,
          successorId,
          expiresAt
        ) {
          yield* sql`
            UPDATE api_keys
            SET
              expires_at = least(expires_at, ${expiresAt}),
              warn_at = NULL,
              successor_id = ${successorId}
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

        // Uses SKIP LOCKED, because a statement that locks many keys could deadlock with another
        // node or with a workspace's deletion.
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

const verifiedColumns = [
  "id",
  "workspace_id",
  "lane",
  "name",
  "key_hash",
  "key_prefix",
  "scopes",
  "allowed_ips",
  "expires_at",
  "revoked_at",
  "last_used_at"
] satisfies ReadonlyArray<keyof VerifiedKeyRow>

const verifiedRows = rowReader<VerifiedKeyRow>(verifiedColumns)

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
  "allowed_ips",
  "created_by",
  "expires_at",
  "revoked_at",
  "last_used_at",
  "created_at"
] satisfies ReadonlyArray<keyof ApiKeyRow>

const rowsOfPages = rowReader<ApiKeyRow & { readonly n: number }>([...columns, "n"])

const listPages = (sql: SqlClient.SqlClient) => (asked: ReadonlyArray<RequestedPage>) =>
  rowsOfPages(sql`
    SELECT key.*, asked.n
    FROM ${requestedPages(sql, asked)}
    CROSS JOIN LATERAL (
      SELECT ${sql.literal(columns.join(", "))}
      FROM api_keys
      WHERE api_keys.workspace_id = asked.workspace_id
        AND api_keys.id < asked.before
      ORDER BY id DESC
      LIMIT asked.rows
    ) AS key`).pipe(Effect.orDie)
