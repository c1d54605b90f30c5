import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { UserRow } from "../users/UsersRepo.ts"

export interface PasskeyRow {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly credential_id: string
  readonly public_key: string
  readonly counter: bigint
  readonly last_used_at: Date | null
  readonly created_at: Date
}

export class PasskeysRepo extends Context.Service<
  PasskeysRepo,
  {
    /**
     * Lists all passkeys of a user, newest first. The list is not paginated, because the number of
     * passkeys is limited.
     */
    readonly list: (userId: string) => Effect.Effect<ReadonlyArray<PasskeyRow>>
    /** Inserts a passkey. Returns false if its credential is already stored. */
    readonly insert: (passkey: PasskeyRow) => Effect.Effect<boolean>
    readonly findByCredential: (
      credentialId: string
    ) => Effect.Effect<Option.Option<{ readonly passkey: PasskeyRow; readonly user: UserRow }>>
    /**
     * Records a use. Returns false if an earlier use had the same or a higher counter. A counter
     * that stays at 0 is always accepted, because some authenticators do not count.
     */
    readonly updateUsed: (id: string, counter: number, now: Date) => Effect.Effect<boolean>
    readonly updateName: (userId: string, id: string, name: string) => Effect.Effect<boolean>
    readonly remove: (userId: string, id: string) => Effect.Effect<boolean>
    readonly removeAll: (userId: string) => Effect.Effect<number>
    /**
     * Records that a challenge was used, and deletes expired records. Returns false if the
     * challenge was used before.
     */
    readonly useChallenge: (hash: string, expiresAt: Date, now: Date) => Effect.Effect<boolean>
  }
>()("@scheduling/server/accounts/passkeys/PasskeysRepo") {
  static readonly layer: Layer.Layer<PasskeysRepo, never, SqlClient.SqlClient> = Layer.effect(
    PasskeysRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const findPasskey = Effect.fnUntraced(function* (credentialId: string) {
        const rows = yield* sql<PasskeyRow>`
          SELECT *
          FROM passkeys
          WHERE credential_id = ${credentialId}`
        return rows[0]
      })

      return PasskeysRepo.of({
        list: Effect.fn("PasskeysRepo.list")(function* (userId) {
          return yield* sql<PasskeyRow>`
            SELECT *
            FROM passkeys
            WHERE user_id = ${userId}
            ORDER BY id DESC`
        }, Effect.orDie),

        insert: Effect.fn("PasskeysRepo.insert")(function* (passkey) {
          const rows = yield* sql`
            INSERT INTO passkeys ${sql.insert({ ...passkey })}
            ON CONFLICT (credential_id) DO NOTHING
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        findByCredential: Effect.fn("PasskeysRepo.findByCredential")(function* (credentialId) {
          const passkey = yield* findPasskey(credentialId)
          if (passkey === undefined) return Option.none()
          const [user] = yield* sql<UserRow>`
            SELECT users.*
            FROM users
            WHERE users.id = ${passkey.user_id}`
          return user === undefined ? Option.none() : Option.some({ passkey, user })
        }, Effect.orDie),

        updateUsed: Effect.fn("PasskeysRepo.updateUsed")(function* (id, counter, now) {
          const rows = yield* sql`
            UPDATE passkeys
            SET counter = ${counter}, last_used_at = ${now}
            WHERE id = ${id}
              AND (counter < ${counter} OR (counter = 0 AND ${counter}::bigint = 0))
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        updateName: Effect.fn("PasskeysRepo.updateName")(function* (userId, id, name) {
          const rows = yield* sql`
            UPDATE passkeys
            SET name = ${name}
            WHERE id = ${id}
              AND user_id = ${userId}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        remove: Effect.fn("PasskeysRepo.remove")(function* (userId, id) {
          const rows = yield* sql`
            DELETE FROM passkeys
            WHERE id = ${id}
              AND user_id = ${userId}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        removeAll: Effect.fn("PasskeysRepo.removeAll")(function* (userId) {
          const rows = yield* sql`
            DELETE FROM passkeys
            WHERE user_id = ${userId}
            RETURNING id`
          return rows.length
        }, Effect.orDie),

        useChallenge: Effect.fn("PasskeysRepo.useChallenge")(function* (hash, expiresAt, now) {
          yield* sql`
            DELETE FROM used_challenges
            WHERE expires_at < ${now}`
          const rows = yield* sql`
            INSERT INTO used_challenges (challenge_hash, expires_at)
            VALUES (${hash}, ${expiresAt})
            ON CONFLICT DO NOTHING
            RETURNING challenge_hash`
          return rows.length > 0
        }, Effect.orDie)
      })
    })
  )
}
