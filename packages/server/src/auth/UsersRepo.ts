import type { User } from "@scheduling/domain/auth/User"
import { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { timestampOf } from "../platform/timestamp.ts"

export interface UserRow {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly password_hash: string
  readonly lane: bigint
  readonly created_at: Date
}

export const toUser = (row: UserRow): User => ({
  id: UserId.make(row.id),
  email: row.email,
  name: row.name,
  created_at: timestampOf(row.created_at)
})

export interface PasswordHashChange {
  readonly id: string
  readonly from: string
  readonly to: string
}

/** A failed statement is a defect: the answer is 503 or 500, and no caller can do better. */
export class UsersRepo extends Context.Service<
  UsersRepo,
  {
    /** None where the email is taken. */
    readonly insert: (user: UserRow) => Effect.Effect<Option.Option<UserRow>>
    readonly find: (id: string) => Effect.Effect<Option.Option<UserRow>>
    readonly findByEmail: (email: string) => Effect.Effect<Option.Option<UserRow>>
    /** None where the email is taken by somebody else. */
    readonly update: (
      user: Pick<UserRow, "id" | "email" | "name">
    ) => Effect.Effect<Option.Option<UserRow>>
    /**
     * Holds the row until the transaction ends; false where the password is not this one any more,
     * or the user is gone. What a password has confirmed is then done with that password still right.
     */
    readonly claim: (id: string, passwordHash: string) => Effect.Effect<boolean>
    /** False where the password is not `from` any more. */
    readonly updatePassword: (change: PasswordHashChange) => Effect.Effect<boolean>
    readonly remove: (id: string) => Effect.Effect<void>
  }
>()("@scheduling/server/auth/UsersRepo") {
  static readonly layer: Layer.Layer<UsersRepo, never, SqlClient.SqlClient> = Layer.effect(
    UsersRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return UsersRepo.of({
        insert: Effect.fn("UsersRepo.insert")(function* (user) {
          const rows = yield* sql<UserRow>`
            INSERT INTO users ${sql.insert({ ...user })}
            ON CONFLICT (email) DO NOTHING
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        find: Effect.fn("UsersRepo.find")(function* (id) {
          const rows = yield* sql<UserRow>`
            SELECT *
            FROM users
            WHERE id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByEmail: Effect.fn("UsersRepo.findByEmail")(function* (email) {
          const rows = yield* sql<UserRow>`
            SELECT *
            FROM users
            WHERE email = ${email}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        update: Effect.fn("UsersRepo.update")(
          function* ({ email, id, name }) {
            const rows = yield* sql<UserRow>`
              UPDATE users
              SET email = ${email}, name = ${name}
              WHERE id = ${id}
              RETURNING *`
            return Option.fromNullishOr(rows[0])
          },
          Effect.catchReason("SqlError", "UniqueViolation", () =>
            Effect.succeed(Option.none<UserRow>())
          ),
          Effect.orDie
        ),

        claim: Effect.fn("UsersRepo.claim")(function* (id, passwordHash) {
          const rows = yield* sql`
            SELECT id
            FROM users
            WHERE id = ${id}
              AND password_hash = ${passwordHash}
            FOR NO KEY UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        updatePassword: Effect.fn("UsersRepo.updatePassword")(function* ({ from, id, to }) {
          const rows = yield* sql`
            UPDATE users
            SET password_hash = ${to}
            WHERE id = ${id}
              AND password_hash = ${from}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        remove: Effect.fn("UsersRepo.remove")(function* (id) {
          yield* sql`
            DELETE FROM users
            WHERE id = ${id}`
        }, Effect.orDie)
      })
    })
  )
}
