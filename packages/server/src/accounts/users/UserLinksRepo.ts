import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { UserRow } from "./UsersRepo.ts"

export type UserLinkPurpose = "password reset" | "email" | "sign in"

export interface LinkedUserRow extends UserRow {
  /** True if the token was emailed, so that only the email's owner has seen it. */
  readonly mailed: boolean
}

/** Stores tokens for links: at most one per user and purpose. */
export class UserLinksRepo extends Context.Service<
  UserLinksRepo,
  {
    readonly insert: (link: {
      readonly user_id: string
      readonly purpose: UserLinkPurpose
      readonly token_hash: string
      readonly expires_at: Date
      readonly mailed: boolean
    }) => Effect.Effect<void>
    readonly findUser: (
      purpose: UserLinkPurpose,
      hashes: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<Option.Option<LinkedUserRow>>
    /** Deletes a token. Returns false if it was already used or replaced. */
    readonly remove: (
      userId: string,
      purpose: UserLinkPurpose,
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<boolean>
    readonly removeAny: (userId: string, purpose: UserLinkPurpose) => Effect.Effect<void>
    /**
     * Deletes all links with which somebody could still sign in or take over the account after a
     * password change. Also deletes an email change that is not yet verified. Call it when the
     * password changes.
     */
    readonly removeRequested: (userId: string) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/users/UserLinksRepo") {
  static readonly layer: Layer.Layer<UserLinksRepo, never, SqlClient.SqlClient> = Layer.effect(
    UserLinksRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return UserLinksRepo.of({
        insert: Effect.fn("UserLinksRepo.insert")(function* (link) {
          yield* sql`
            INSERT INTO user_links ${sql.insert({ ...link })}
            ON CONFLICT (user_id, purpose) DO UPDATE
            SET token_hash = EXCLUDED.token_hash,
                expires_at = EXCLUDED.expires_at,
                mailed = EXCLUDED.mailed`
        }, Effect.orDie),

        findUser: Effect.fn("UserLinksRepo.findUser")(function* (purpose, hashes, now) {
          const rows = yield* sql<LinkedUserRow>`
            SELECT users.*, user_links.mailed
            FROM user_links
            JOIN users ON users.id = user_links.user_id
            WHERE user_links.token_hash = ANY (${hashes}::text[])
              AND user_links.purpose = ${purpose}
              AND user_links.expires_at > ${now}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        remove: Effect.fn("UserLinksRepo.remove")(function* (userId, purpose, hashes) {
          const rows = yield* sql`
            DELETE FROM user_links
            WHERE user_id = ${userId}
              AND purpose = ${purpose}
              AND token_hash = ANY (${hashes}::text[])
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        removeAny: Effect.fn("UserLinksRepo.removeAny")(function* (userId, purpose) {
          yield* sql`
            DELETE FROM user_links
            WHERE user_id = ${userId}
              AND purpose = ${purpose}`
        }, Effect.orDie),

        removeRequested: Effect.fn("UserLinksRepo.removeRequested")(function* (userId) {
          yield* sql`
            DELETE FROM user_links
            USING users
            WHERE user_links.user_id = ${userId}
              AND users.id = user_links.user_id
              AND (user_links.purpose <> 'email' OR users.pending_email IS NOT NULL)`
          yield* sql`
            UPDATE users
            SET pending_email = NULL
            WHERE id = ${userId}
              AND pending_email IS NOT NULL`
        }, Effect.orDie)
      })
    })
  )
}
