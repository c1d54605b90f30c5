import type { User } from "@scheduling/domain/auth/User"
import { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { timestampOf } from "../../store/index.ts"

export interface UserRow {
  readonly id: string
  readonly email: string
  readonly email_verified_at: Date | null
  /** The new email address. It is pending until the user opens the link that was emailed to it. */
  readonly pending_email: string | null
  readonly name: string | null
  readonly password_hash: string
  /** False if nobody knows the password, because the user signs in by other means. */
  readonly has_password: boolean
  readonly lane: bigint
  readonly created_at: Date
}

/** An account as the commands of the operator list it. */
export interface AccountRow extends Pick<UserRow, "email" | "created_at"> {
  readonly disabled_at: Date | null
  readonly has_second_factor: boolean
}

export const toUser = (row: UserRow): User => ({
  id: UserId.make(row.id),
  email: row.email,
  email_verified: row.email_verified_at !== null,
  pending_email: row.pending_email,
  name: row.name,
  has_password: row.has_password,
  created_at: timestampOf(row.created_at)
})

export interface PasswordHashChange {
  readonly id: string
  readonly from: string
  readonly to: string
}

/**
 * Reads and writes human users, as opposed to service accounts. A failed statement is a defect, because no service can
 * handle it.
 */
export class UsersRepo extends Context.Service<
  UsersRepo,
  {
    /** Inserts a user, or returns none if the email is taken. */
    readonly insert: (user: UserRow) => Effect.Effect<Option.Option<UserRow>>
    readonly isEmpty: Effect.Effect<boolean>
    /** Prevents other transactions from inserting users until this one ends. */
    readonly lockAll: Effect.Effect<void>
    readonly find: (id: string) => Effect.Effect<Option.Option<UserRow>>
    readonly findByEmail: (email: string) => Effect.Effect<Option.Option<UserRow>>
    /** Changes only the given fields, because others may have changed since the row was read. */
    readonly update: (
      id: string,
      change: { readonly pending_email?: string | null; readonly name?: string | null }
    ) => Effect.Effect<Option.Option<UserRow>>
    /**
     * Replaces the email with the verified one, unless the row's email or pending email has
     * changed.
     */
    readonly updateEmail: (
      from: Pick<UserRow, "id" | "email" | "pending_email">,
      email: string,
      now: Date
    ) => Effect.Effect<"done" | "changed" | "taken">
    /**
     * Marks the email as verified and removes the pending email. Returns false if it was already
     * verified.
     */
    readonly updateVerified: (id: string, now: Date) => Effect.Effect<boolean>
    /**
     * Locks the user until the transaction ends. Returns false if the user was deleted or disabled,
     * or if the password has changed since it was checked.
     */
    readonly lock: (id: string, passwordHash: string) => Effect.Effect<boolean>
    /**
     * Locks the user until the transaction ends. Returns false if its email or pending email has
     * changed since the row was read.
     */
    readonly lockEmail: (
      user: Pick<UserRow, "id" | "email" | "pending_email">
    ) => Effect.Effect<boolean>
    readonly updatePassword: (change: PasswordHashChange) => Effect.Effect<boolean>
    /**
     * Replaces the password with one that nobody knows. Returns false if the password has changed.
     */
    readonly removePassword: (change: PasswordHashChange) => Effect.Effect<boolean>
    readonly updateDisabled: (id: string, disabledAt: Date | null) => Effect.Effect<void>
    readonly remove: (id: string) => Effect.Effect<void>
    readonly listAll: (limit: number) => Effect.Effect<ReadonlyArray<AccountRow>>
  }
>()("@scheduling/server/accounts/users/UsersRepo") {
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

        isEmpty: sql`
          SELECT 1
          FROM users
          LIMIT 1`.pipe(
          Effect.map((rows) => rows.length === 0),
          Effect.orDie
        ),

        lockAll: Effect.asVoid(Effect.orDie(sql`LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE`)),

        find: Effect.fn("UsersRepo.find")(function* (id) {
          const rows = yield* sql<UserRow>`
            SELECT *
            FROM users
            WHERE id = ${id}
              AND workspace_id IS NULL`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByEmail: Effect.fn("UsersRepo.findByEmail")(function* (email) {
          const rows = yield* sql<UserRow>`
            SELECT *
            FROM users
            WHERE email = ${email}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        update: Effect.fn("UsersRepo.update")(function* (id, { name, pending_email }) {
          const rows = yield* sql<UserRow>`
            UPDATE users
            SET pending_email = ${pending_email === undefined ? sql`pending_email` : pending_email},
                name = ${name === undefined ? sql`name` : name}
            WHERE id = ${id}
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateEmail: Effect.fn("UsersRepo.updateEmail")(
          function* (from, email, now) {
            const rows = yield* sql`
              UPDATE users
              SET email = ${email}, email_verified_at = ${now}, pending_email = NULL
              WHERE id = ${from.id}
                AND email = ${from.email}
                AND pending_email IS NOT DISTINCT FROM ${from.pending_email}
              RETURNING id`
            return rows.length > 0 ? "done" : "changed"
          },
          Effect.catchReason("SqlError", "UniqueViolation", () => Effect.succeed("taken" as const)),
          Effect.orDie
        ),

        updateVerified: Effect.fn("UsersRepo.updateVerified")(function* (id, now) {
          const rows = yield* sql`
            UPDATE users
            SET email_verified_at = ${now}, pending_email = NULL
            WHERE id = ${id}
              AND email_verified_at IS NULL
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        lock: Effect.fn("UsersRepo.lock")(function* (id, passwordHash) {
          const rows = yield* sql`
            SELECT id
            FROM users
            WHERE id = ${id}
              AND password_hash = ${passwordHash}
              AND disabled_at IS NULL
            FOR NO KEY UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        lockEmail: Effect.fn("UsersRepo.lockEmail")(function* ({ email, id, pending_email }) {
          const rows = yield* sql`
            SELECT id
            FROM users
            WHERE id = ${id}
              AND email = ${email}
              AND pending_email IS NOT DISTINCT FROM ${pending_email}
            FOR NO KEY UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        updatePassword: Effect.fn("UsersRepo.updatePassword")(function* ({ from, id, to }) {
          const rows = yield* sql`
            UPDATE users
            SET password_hash = ${to}, has_password = true
            WHERE id = ${id}
              AND password_hash = ${from}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        removePassword: Effect.fn("UsersRepo.removePassword")(function* ({ from, id, to }) {
          const rows = yield* sql`
            UPDATE users
            SET password_hash = ${to}, has_password = false
            WHERE id = ${id}
              AND password_hash = ${from}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        updateDisabled: Effect.fn("UsersRepo.updateDisabled")(function* (id, disabledAt) {
          yield* sql`
            UPDATE users
            SET disabled_at = ${disabledAt}
            WHERE id = ${id}`
        }, Effect.orDie),

        listAll: Effect.fn("UsersRepo.listAll")(function* (limit) {
          return yield* sql<AccountRow>`
            SELECT
              email,
              created_at,
              disabled_at,
              EXISTS (
                SELECT
                FROM totp
                WHERE user_id = users.id
                  AND confirmed_at IS NOT NULL
              ) AS has_second_factor
            FROM users
            WHERE workspace_id IS NULL
            ORDER BY id
            LIMIT ${limit}`
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
