import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { maxShownUses, type Secret, type SecretUse } from "@scheduling/domain/secrets/Secret"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import {
  variableLengthColumns,
  orWorkspaceNotFound,
  type PageRequest,
  textArray,
  timestampOf
} from "../store/index.ts"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { SecretId } from "@scheduling/domain/shared/Ids"

/** A secret without its value. */
export interface SecretRow {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly name: string
  readonly description: string | null
  readonly allowed_hosts: ReadonlyArray<string>
  readonly value_set_at: Date
  readonly created_by: Actor | null
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const toSecret = (row: SecretRow, used_by: ReadonlyArray<SecretUse>): Secret => ({
  id: SecretId.make(row.id),
  name: row.name,
  description: row.description,
  allowed_hosts: row.allowed_hosts,
  used_by,
  value_set_at: timestampOf(row.value_set_at),
  created_by: row.created_by,
  updated_by: row.updated_by ?? row.created_by,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class SecretsRepo extends Context.Service<
  SecretsRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<SecretRow>>
    /** Locks the secret until the transaction ends. */
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      name: string
    ) => Effect.Effect<Option.Option<SecretRow>>
    /**
     * Inserts a secret. Returns false if a concurrent request has just created a secret with this
     * name.
     */
    readonly insert: (
      secret: SecretRow & { readonly sealed_value: string }
    ) => Effect.Effect<boolean, NotFound>
    /** Updates a secret. Its value is written only if `sealed_value` is given. */
    readonly update: (secret: SecretRow & { readonly sealed_value?: string }) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, name: string) => Effect.Effect<void>
    /**
     * Returns the records that use the secrets with these names, newest first, up to a limit per
     * kind.
     */
    readonly findUses: (
      workspaceId: AuthorizedWorkspaceId,
      names: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<SecretUse>>>
  }
>()("@scheduling/server/secrets/SecretsRepo") {
  static readonly layer: Layer.Layer<SecretsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SecretsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const columns = sql.literal(
        "id, workspace_id, name, description, allowed_hosts, value_set_at, created_by, updated_by, " +
          "created_at, updated_at"
      )

      return SecretsRepo.of({
        list: Effect.fn("SecretsRepo.list")(function* (workspaceId, page) {
          return yield* sql<SecretRow>`
            SELECT ${columns}
            FROM secrets
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        findForUpdate: Effect.fn("SecretsRepo.findForUpdate")(function* (workspaceId, name) {
          const rows = yield* sql<SecretRow>`
            SELECT ${columns}
            FROM secrets
            WHERE workspace_id = ${workspaceId}
              AND name = ${name}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        insert: Effect.fn("SecretsRepo.insert")(function* (secret) {
          const rows = yield* sql`
              INSERT INTO secrets (
                id, workspace_id, name, description, allowed_hosts, sealed_value, value_set_at,
                created_by, created_at, updated_at
              )
              VALUES (
                ${secret.id}, ${secret.workspace_id}, ${secret.name}, ${secret.description},
                ${textArray(secret.allowed_hosts)}, ${secret.sealed_value},
                ${secret.value_set_at}, ${JSON.stringify(secret.created_by)}::jsonb,
                ${secret.created_at}, ${secret.updated_at}
              )
              ON CONFLICT (workspace_id, name) DO NOTHING
              RETURNING id`
          return rows.length > 0
        }, orWorkspaceNotFound),

        update: Effect.fn("SecretsRepo.update")(function* (secret) {
          yield* sql`
            UPDATE secrets
            SET
              description = ${secret.description},
              allowed_hosts = ${textArray(secret.allowed_hosts)},
              sealed_value = coalesce(${secret.sealed_value ?? null}, sealed_value),
              value_set_at = ${secret.value_set_at},
              updated_by = ${JSON.stringify(secret.updated_by)}::jsonb,
              updated_at = ${secret.updated_at}
            WHERE workspace_id = ${secret.workspace_id}
              AND id = ${secret.id}`
        }, Effect.orDie),

        remove: Effect.fn("SecretsRepo.remove")(function* (workspaceId, name) {
          yield* sql`
            DELETE FROM secrets
            WHERE workspace_id = ${workspaceId}
              AND name = ${name}`
        }, Effect.orDie),

        findUses: Effect.fn("SecretsRepo.findUses")(function* (workspaceId, names) {
          if (names.length === 0) return new Map()
          const rows = yield* sql<SecretUse & { readonly secret: string }>`
            SELECT asked.secret, uses.*
            FROM unnest(${variableLengthColumns(sql, names)("text", (name) => name)}) AS asked (secret)
            CROSS JOIN LATERAL (
              (
                SELECT kind || '_task' AS kind, id, name
                FROM tasks
                WHERE workspace_id = ${workspaceId}
                  AND secret_names IS NOT NULL
                  AND asked.secret = ANY (secret_names)
                  AND (kind = 'cron' OR status = 'pending')
                ORDER BY id DESC
                LIMIT ${maxShownUses}
              )
              UNION ALL
              (
                SELECT 'chain', id, name
                FROM tasks
                WHERE workspace_id = ${workspaceId}
                  AND kind = 'chain'
                  AND EXISTS (
                    SELECT
                    FROM chain_steps
                    WHERE chain_steps.version_id = tasks.version_id
                      AND chain_steps.secret_names IS NOT NULL
                      AND asked.secret = ANY (chain_steps.secret_names)
                  )
                ORDER BY id DESC
                LIMIT ${maxShownUses}
              )
              UNION ALL
              (
                SELECT m.kind || '_monitor', m.id, m.name
                FROM checked_monitors AS k
                JOIN monitors AS m ON m.id = k.monitor_id
                WHERE k.workspace_id = ${workspaceId}
                  AND k.secret_names IS NOT NULL
                  AND asked.secret = ANY (k.secret_names)
                ORDER BY m.id DESC
                LIMIT ${maxShownUses}
              )
              UNION ALL
              (
                SELECT 'notification_channel', id, name
                FROM notification_channels
                WHERE workspace_id = ${workspaceId}
                  AND asked.secret = ANY (secret_names)
                ORDER BY id DESC
                LIMIT ${maxShownUses}
              )
            ) AS uses`
          const uses = new Map<string, Array<SecretUse>>()
          for (const { id, kind, name, secret } of rows) {
            const known = uses.get(secret) ?? []
            if (known.length < maxShownUses) known.push({ kind, id, name })
            uses.set(secret, known)
          }
          return uses
        }, Effect.orDie)
      })
    })
  )
}
