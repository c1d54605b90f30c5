import { maxListedAddresses } from "@scheduling/domain/api-keys/ApiKeyUsage"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"

export interface KeyUse {
  readonly api_key_id: string
  readonly kind: "scope" | "address" | "refused_address"
  readonly what: string
}

export interface KeyUseRow extends KeyUse {
  readonly last_used_at: Date
}

/**
 * The scopes that keys have used, and the addresses from which they were used. Each write limits
 * the number of addresses per key, and a background job deletes old addresses.
 */
export class KeyUsesRepo extends Context.Service<
  KeyUsesRepo,
  {
    /**
     * Writes uses, and returns the written ones as `<key> <kind> <what>`. Skips locked and deleted
     * keys.
     */
    readonly update: (uses: ReadonlyArray<KeyUse>, now: Date) => Effect.Effect<ReadonlySet<string>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      keyId: string,
      since: Date
    ) => Effect.Effect<ReadonlyArray<KeyUseRow>>
  }
>()("@scheduling/server/accounts/api-keys/KeyUsesRepo") {
  static readonly layer: Layer.Layer<KeyUsesRepo, never, SqlClient.SqlClient> = Layer.effect(
    KeyUsesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /**
       * Deletes the oldest addresses of these keys, so that a client with many addresses cannot
       * fill the table.
       */
      const removeOldest = (keyIds: ReadonlyArray<string>) => sql`
        DELETE FROM api_key_uses
        USING (
          SELECT
            api_key_id,
            kind,
            what,
            row_number() OVER (PARTITION BY api_key_id, kind ORDER BY last_used_at DESC, what) AS nr
          FROM api_key_uses
          WHERE api_key_id = ANY (${keyIds}::uuid[])
            AND kind <> 'scope'
        ) AS ranked
        WHERE ranked.nr > ${maxListedAddresses}
          AND api_key_uses.api_key_id = ranked.api_key_id
          AND api_key_uses.kind = ranked.kind
          AND api_key_uses.what = ranked.what`

      return KeyUsesRepo.of({
        // Uses SKIP LOCKED for the same reason as `ApiKeyRepo.updateLastUsed`.
        update: Effect.fn("KeyUsesRepo.update")(function* (uses, now) {
          const column = columnsOf(uses)
          const written = yield* sql<{ readonly name: string }>`
            INSERT INTO api_key_uses (api_key_id, kind, what, last_used_at)
            SELECT api_keys.id, uses.kind, uses.what, ${now}
            FROM unnest(
              ${column("uuid", (use) => use.api_key_id)},
              ${column("text", (use) => use.kind)},
              ${column("text", (use) => use.what)}
            ) AS uses (id, kind, what)
            JOIN api_keys ON api_keys.id = uses.id
            FOR KEY SHARE OF api_keys SKIP LOCKED
            ON CONFLICT (api_key_id, kind, what) DO UPDATE
            SET last_used_at = greatest(api_key_uses.last_used_at, EXCLUDED.last_used_at)
            RETURNING concat_ws(' ', api_key_id, kind, what) AS name`
          const addressed = uses.filter(({ kind }) => kind !== "scope")
          if (addressed.length > 0) {
            yield* removeOldest([...new Set(addressed.map((use) => use.api_key_id))])
          }
          return new Set(written.map(({ name }) => name))
        }, Effect.orDie),

        list: Effect.fn("KeyUsesRepo.list")(function* (workspaceId, keyId, since) {
          return yield* sql<KeyUseRow>`
            SELECT api_key_uses.*
            FROM api_key_uses
            JOIN api_keys ON api_keys.id = api_key_uses.api_key_id
            WHERE api_keys.workspace_id = ${workspaceId}
              AND api_keys.id = ${keyId}
              AND api_key_uses.last_used_at > ${since}
            ORDER BY api_key_uses.last_used_at DESC, what`
        }, Effect.orDie)
      })
    })
  )
}
