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
  /** The provider's refresh token, encrypted. Null if the provider gave none. */
  readonly sealed_token: string | null
  readonly checked_at: Date
}

/** Stores the accounts of users at identity providers, and the sessions that began there. */
export class IdentitiesRepo extends Context.Service<
  IdentitiesRepo,
  {
    /** Inserts an identity. Returns false if it, or another one of the user, exists already. */
    readonly insert: (identity: IdentityRow) => Effect.Effect<boolean>
    readonly findUser: (issuer: string, subject: string) => Effect.Effect<Option.Option<UserRow>>
    /** Returns true if the user can sign in at this issuer. */
    readonly isLinked: (userId: string, issuer: string) => Effect.Effect<boolean>
    readonly insertSession: (session: ProviderSessionRow) => Effect.Effect<void>
    /** Finds a session, with its user's subject at this issuer. */
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

        isLinked: Effect.fn("IdentitiesRepo.isLinked")(function* (userId, issuer) {
          const rows = yield* sql`
            SELECT user_id
            FROM identities
            WHERE user_id = ${userId}
              AND issuer = ${issuer}`
          return rows.length > 0
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
