import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"

export interface TotpRow {
  readonly user_id: string
  readonly sealed_secret: string
  readonly confirmed_at: Date | null
}

export class TotpRepo extends Context.Service<
  TotpRepo,
  {
    readonly find: (userId: string) => Effect.Effect<Option.Option<TotpRow>>
    readonly countCodes: (userId: string) => Effect.Effect<number>
    /**
     * Inserts a second factor, which replaces an unconfirmed one. Returns false if a confirmed one
     * exists.
     */
    readonly insert: (userId: string, sealedSecret: string, now: Date) => Effect.Effect<boolean>
    /** Confirms the second factor. Returns false if it was already confirmed or was deleted. */
    readonly updateConfirmed: (userId: string, now: Date) => Effect.Effect<boolean>
    readonly insertCodes: (userId: string, hashes: ReadonlyArray<string>) => Effect.Effect<void>
    /**
     * Records the time step of a used code. Returns false if a code of the same or a later step was
     * already used.
     */
    readonly updateStep: (userId: string, step: number) => Effect.Effect<boolean>
    readonly removeCode: (userId: string, hashes: ReadonlyArray<string>) => Effect.Effect<boolean>
    readonly remove: (userId: string) => Effect.Effect<boolean>
  }
>()("@scheduling/server/accounts/totp/TotpRepo") {
  static readonly layer: Layer.Layer<TotpRepo, never, SqlClient.SqlClient> = Layer.effect(
    TotpRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return TotpRepo.of({
        find: Effect.fn("TotpRepo.find")(function* (userId) {
          const rows = yield* sql<TotpRow>`
            SELECT user_id, sealed_secret, confirmed_at
            FROM totp
            WHERE user_id = ${userId}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        countCodes: Effect.fn("TotpRepo.countCodes")(function* (userId) {
          const [row] = yield* sql<{ readonly codes: number }>`
            SELECT count(*)::int AS codes
            FROM recovery_codes
            WHERE user_id = ${userId}`
          return row?.codes ?? 0
        }, Effect.orDie),

        insert: Effect.fn("TotpRepo.insert")(function* (userId, sealedSecret, now) {
          const rows = yield* sql`
            INSERT INTO totp (user_id, sealed_secret, created_at)
            VALUES (${userId}, ${sealedSecret}, ${now})
            ON CONFLICT (user_id) DO UPDATE
            SET sealed_secret = EXCLUDED.sealed_secret, created_at = EXCLUDED.created_at
            WHERE totp.confirmed_at IS NULL
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        updateConfirmed: Effect.fn("TotpRepo.updateConfirmed")(function* (userId, now) {
          const rows = yield* sql`
            UPDATE totp
            SET confirmed_at = ${now}
            WHERE user_id = ${userId}
              AND confirmed_at IS NULL
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        insertCodes: Effect.fn("TotpRepo.insertCodes")(function* (userId, hashes) {
          yield* sql`
            INSERT INTO recovery_codes (user_id, code_hash)
            SELECT ${userId}::uuid, unnest(${hashes}::text[])`
        }, Effect.orDie),

        updateStep: Effect.fn("TotpRepo.updateStep")(function* (userId, step) {
          const rows = yield* sql`
            UPDATE totp
            SET last_step = ${step}
            WHERE user_id = ${userId}
              AND last_step < ${step}
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        removeCode: Effect.fn("TotpRepo.removeCode")(function* (userId, hashes) {
          const rows = yield* sql`
            DELETE FROM recovery_codes
            WHERE user_id = ${userId}
              AND code_hash = ANY (${hashes}::text[])
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        remove: Effect.fn("TotpRepo.remove")(function* (userId) {
          const rows = yield* sql`
            DELETE FROM totp
            WHERE user_id = ${userId}
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie)
      })
    })
  )
}
