import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ServiceAccount } from "@scheduling/domain/service-accounts/ServiceAccount"
import { ServiceAccountId, UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type PageRequest, timestampOf, timestampOrNull } from "../../store/index.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"

export interface ServiceAccountRow {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly name: string
  readonly role: ServiceAccount["role"]
  readonly secret_hash: string
  readonly secret_prefix: string
  readonly old_secret_hash: string | null
  readonly old_secret_expires_at: Date | null
  readonly last_used_at: Date | null
  readonly created_by: string | null
  readonly created_at: Date
}

/** A service account's secrets. */
export type SecretsRow = Pick<
  ServiceAccountRow,
  "id" | "secret_hash" | "secret_prefix" | "old_secret_hash" | "old_secret_expires_at"
>

export const toServiceAccount = (row: ServiceAccountRow, now: Date): ServiceAccount => ({
  id: ServiceAccountId.make(row.id),
  name: row.name,
  role: row.role,
  secret_prefix: row.secret_prefix,
  old_secret_expires_at:
    row.old_secret_expires_at !== null && row.old_secret_expires_at > now
      ? timestampOf(row.old_secret_expires_at)
      : null,
  last_used_at: timestampOrNull(row.last_used_at),
  created_by: row.created_by === null ? null : UserId.make(row.created_by),
  created_at: timestampOf(row.created_at)
})

/**
 * Reads and writes service accounts, which change only while the workspace is locked. Both issuing
 * a token and changing the secrets lock the user's row.
 */
export class ServiceAccountsRepo extends Context.Service<
  ServiceAccountsRepo,
  {
    readonly insert: (account: ServiceAccountRow) => Effect.Effect<void>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ServiceAccountRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ServiceAccountRow>>
    /** Finds the service account that an access token belongs to. */
    readonly findOfToken: (id: string) => Effect.Effect<Option.Option<ServiceAccountRow>>
    /** Finds a service account's secrets and locks them until the transaction ends. */
    readonly findSecretsForUpdate: (id: string) => Effect.Effect<Option.Option<SecretsRow>>
    readonly update: (
      account: Pick<ServiceAccountRow, "id" | "workspace_id" | "name" | "role">
    ) => Effect.Effect<void>
    readonly updateSecrets: (secrets: SecretsRow) => Effect.Effect<void>
    /** Brings the expiry of the service account's access tokens forward to this time. */
    readonly updateTokensExpiry: (id: string, expiresAt: Date) => Effect.Effect<void>
    readonly insertToken: (
      session: Omit<SessionRow, "began_with" | "generation" | "rotated_at">
    ) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<void>
    readonly removeAll: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<ReadonlyArray<Pick<ServiceAccountRow, "id" | "name">>>
  }
>()("@scheduling/server/accounts/service-accounts/ServiceAccountsRepo") {
  static readonly layer: Layer.Layer<ServiceAccountsRepo, never, SqlClient.SqlClient> =
    Layer.effect(
      ServiceAccountsRepo,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient

        const serviceAccounts = sql`
            users.id, users.workspace_id, users.name, users.created_at, memberships.role,
            secret_hash, secret_prefix, old_secret_hash, old_secret_expires_at, last_used_at,
            created_by
          FROM users
          JOIN service_accounts ON service_accounts.user_id = users.id
          JOIN memberships
            ON memberships.user_id = users.id
            AND memberships.workspace_id = users.workspace_id`

        return ServiceAccountsRepo.of({
          insert: Effect.fn("ServiceAccountsRepo.insert")(function* (account) {
            yield* sql`
              INSERT INTO users (id, workspace_id, name, lane, created_at)
              SELECT ${account.id}, id, ${account.name}, lane, ${account.created_at}
              FROM workspaces
              WHERE id = ${account.workspace_id}`
            yield* sql`
              INSERT INTO memberships (user_id, workspace_id, role, created_at)
              VALUES
                (${account.id}, ${account.workspace_id}, ${account.role}, ${account.created_at})`
            yield* sql`
              INSERT INTO service_accounts (user_id, secret_hash, secret_prefix, created_by)
              VALUES
                (${account.id}, ${account.secret_hash}, ${account.secret_prefix},
                 ${account.created_by})`
          }, Effect.orDie),

          list: Effect.fn("ServiceAccountsRepo.list")(function* (workspaceId, page) {
            return yield* sql<ServiceAccountRow>`
              SELECT ${serviceAccounts}
              WHERE users.workspace_id = ${workspaceId}
                AND users.id < ${page.before}
              ORDER BY users.id DESC
              LIMIT ${page.limit + 1}`
          }, Effect.orDie),

          find: Effect.fn("ServiceAccountsRepo.find")(function* (workspaceId, id) {
            const rows = yield* sql<ServiceAccountRow>`
              SELECT ${serviceAccounts}
              WHERE users.workspace_id = ${workspaceId}
                AND users.id = ${id}`
            return Option.fromNullishOr(rows[0])
          }, Effect.orDie),

          findOfToken: Effect.fn("ServiceAccountsRepo.findOfToken")(function* (id) {
            const rows = yield* sql<ServiceAccountRow>`
              SELECT ${serviceAccounts}
              WHERE users.id = ${id}`
            return Option.fromNullishOr(rows[0])
          }, Effect.orDie),

          findSecretsForUpdate: Effect.fn("ServiceAccountsRepo.findSecretsForUpdate")(function* (
            id
          ) {
            const rows = yield* sql<SecretsRow>`
              SELECT id, secret_hash, secret_prefix, old_secret_hash, old_secret_expires_at
              FROM users
              JOIN service_accounts ON service_accounts.user_id = users.id
              WHERE id = ${id}
              FOR NO KEY UPDATE`
            return Option.fromNullishOr(rows[0])
          }, Effect.orDie),

          update: Effect.fn("ServiceAccountsRepo.update")(function* (account) {
            yield* sql`
              UPDATE users
              SET name = ${account.name}
              WHERE id = ${account.id}
                AND workspace_id = ${account.workspace_id}`
            yield* sql`
              UPDATE memberships
              SET role = ${account.role}
              WHERE user_id = ${account.id}
                AND workspace_id = ${account.workspace_id}`
          }, Effect.orDie),

          updateSecrets: Effect.fn("ServiceAccountsRepo.updateSecrets")(function* (secrets) {
            yield* sql`
              UPDATE service_accounts
              SET
                secret_hash = ${secrets.secret_hash},
                secret_prefix = ${secrets.secret_prefix},
                old_secret_hash = ${secrets.old_secret_hash},
                old_secret_expires_at = ${secrets.old_secret_expires_at}
              WHERE user_id = ${secrets.id}`
          }, Effect.orDie),

          updateTokensExpiry: Effect.fn("ServiceAccountsRepo.updateTokensExpiry")(function* (
            id,
            expiresAt
          ) {
            yield* sql`
              UPDATE sessions
              SET expires_at = least(expires_at, ${expiresAt})
              WHERE user_id = ${id}`
          }, Effect.orDie),

          insertToken: Effect.fn("ServiceAccountsRepo.insertToken")(function* (session) {
            yield* sql`
              INSERT INTO sessions
                (id, user_id, lane, user_agent, ip, rotated_at, expires_at, created_at)
              SELECT
                ${session.id}, id, lane, ${session.user_agent}, ${session.ip},
                ${session.created_at}, ${session.expires_at}, ${session.created_at}
              FROM users
              WHERE id = ${session.user_id}`
            yield* sql`
              UPDATE service_accounts
              SET last_used_at = ${session.created_at}
              WHERE user_id = ${session.user_id}`
          }, Effect.orDie),

          remove: Effect.fn("ServiceAccountsRepo.remove")(function* (workspaceId, id) {
            yield* sql`
              DELETE FROM users
              WHERE workspace_id = ${workspaceId}
                AND id = ${id}`
          }, Effect.orDie),

          removeAll: Effect.fn("ServiceAccountsRepo.removeAll")(function* (workspaceId) {
            return yield* sql<Pick<ServiceAccountRow, "id" | "name">>`
              DELETE FROM users
              WHERE workspace_id = ${workspaceId}
              RETURNING id, name`
          }, Effect.orDie)
        })
      })
    )
}
