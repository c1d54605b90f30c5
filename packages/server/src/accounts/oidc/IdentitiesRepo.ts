import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { UserRow } from "../users/UsersRepo.ts"

export interface IdentityRow {
  readonly issuer: string
  readonly subject: string
  readonly user_id: string
  readonly created_at: Date
}

export interface ProviderSessionRow {
  readonly session_id: string
  /** The provider's refresh token, encrypted. Null if the provider issued none. */
  readonly sealed_token: string | null
  readonly checked_at: Date
}

/**
 * Stores users' accounts at identity providers, and the sessions that began with a sign-in there.
 */
export class IdentitiesRepo extends Context.Service<
  IdentitiesRepo,
  {
    /**
     * Inserts an identity. Returns false if the identity already exists, or if the user already has
     * another identity.
     */
    readonly insert: (identity: IdentityRow) => Effect.Effect<boolean>
    readonly findUser: (issuer: string, subject: string) => Effect.Effect<Option.Option<UserRow>>
    readonly list: (userId: string) => Effect.Effect<ReadonlyArray<IdentityRow>>
    readonly removeAll: (userId: string) => Effect.Effect<number>
    readonly insertSession: (session: ProviderSessionRow) => Effect.Effect<void>
    /** Finds a session, with the subject that identifies its user at this issuer. */
    readonly findSession: (
      sessionId: string,
      issuer: string
    ) => Effect.Effect<Option.Option<ProviderSessionRow & { readonly subject: string | null }>>
    readonly updateSession: (session: ProviderSessionRow) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/oidc/IdentitiesRepo") {
  static readonly layer: Layer.Layer<IdentitiesRepo, never, SqlClient.SqlClient> = Layer.effect(
    IdentitiesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return IdentitiesRepo.of({
        insert: Effect.fn("IdentitiesRepo.insert")(function* (identity) {
          const rows = yield* sql`
            INSERT INTO identities ${sql.insert({ ...identity })}
            ON CONFLICT DO NOTHING
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        findUser: Effect.fn("IdentitiesRepo.findUser")(function* (issuer, subject) {
          const rows = yield* sql<UserRow>`
            SELECT users.*
            FROM identities
            JOIN users ON users.id = identities.user_id
            WHERE identities.issuer = ${issuer}
              AND identities.subject = ${subject}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fn("IdentitiesRepo.list")(function* (userId) {
          return yield* sql<IdentityRow>`
            SELECT *
            FROM identities
            WHERE user_id = ${userId}
            ORDER BY issuer`
        }, Effect.orDie),

        removeAll: Effect.fn("IdentitiesRepo.removeAll")(function* (userId) {
          const rows = yield* sql`
            DELETE FROM identities
            WHERE user_id = ${userId}
            RETURNING user_id`
          return rows.length
        }, Effect.orDie),

        insertSession: Effect.fn("IdentitiesRepo.insertSession")(function* (session) {
          yield* sql`
            INSERT INTO provider_sessions ${sql.insert({ ...session })}`
        }, Effect.orDie),

        findSession: Effect.fn("IdentitiesRepo.findSession")(function* (sessionId, issuer) {
          const rows = yield* sql<ProviderSessionRow & { readonly subject: string | null }>`
            SELECT provider_sessions.*, identities.subject
            FROM provider_sessions
            JOIN sessions ON sessions.id = provider_sessions.session_id
            LEFT JOIN identities
              ON identities.user_id = sessions.user_id
              AND identities.issuer = ${issuer}
            WHERE provider_sessions.session_id = ${sessionId}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateSession: Effect.fn("IdentitiesRepo.updateSession")(function* (session) {
          yield* sql`
            UPDATE provider_sessions
            SET sealed_token = ${session.sealed_token}, checked_at = ${session.checked_at}
            WHERE session_id = ${session.session_id}`
        }, Effect.orDie)
      })
    })
  )
}
