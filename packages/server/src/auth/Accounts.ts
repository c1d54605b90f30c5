import {
  EmailTaken,
  InvalidCredentials,
  InvalidToken,
  RegistrationClosed
} from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import type { User } from "@scheduling/domain/auth/User"
import { type RateLimited, ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../Config.ts"
import { Idempotency } from "../platform/Idempotency.ts"
import { Ids } from "../platform/Ids.ts"
import type { RequestOrigin } from "../platform/RequestOrigin.ts"
import { Secrets } from "../platform/Secrets.ts"
import { transactionOf } from "../platform/transaction.ts"
import { AuditLog } from "../workspaces/AuditLog.ts"
import { Workspaces } from "../workspaces/Workspaces.ts"
import { isCommon } from "./commonPasswords.ts"
import type { Actor } from "./currentActor.ts"
import { laneOf } from "./laneOf.ts"
import { Logins } from "./Logins.ts"
import { LoginThrottle } from "./LoginThrottle.ts"
import { Passwords } from "./Passwords.ts"
import { SessionsRepo } from "./SessionsRepo.ts"
import { toUser, type UserRow, UsersRepo } from "./UsersRepo.ts"

/** People's accounts: their email, name and password. */
export class Accounts extends Context.Service<
  Accounts,
  {
    readonly register: (
      input: {
        readonly email: string
        readonly password: Redacted.Redacted
        readonly name?: string
      },
      origin: RequestOrigin
    ) => Effect.Effect<
      { readonly user: User; readonly workspace: Workspace },
      EmailTaken | RegistrationClosed | RateLimited | ValidationFailed
    >
    readonly get: (id: string) => Effect.Effect<User, InvalidToken>
    readonly update: (
      actor: Actor,
      change: {
        readonly name?: string | null
        readonly email?: string
        readonly current_password?: Redacted.Redacted
      }
    ) => Effect.Effect<User, EmailTaken | InvalidCredentials | InvalidToken | RateLimited>
    /** Ends every session of the account, and answers the tokens of a new one. */
    readonly changePassword: (
      actor: Actor,
      passwords: {
        readonly current_password: Redacted.Redacted
        readonly new_password: Redacted.Redacted
      }
    ) => Effect.Effect<
      TokenPair,
      InvalidCredentials | InvalidToken | RateLimited | ValidationFailed
    >
    readonly remove: (
      actor: Actor,
      currentPassword: Redacted.Redacted
    ) => Effect.Effect<void, InvalidCredentials | InvalidToken | RateLimited>
  }
>()("@scheduling/server/auth/Accounts") {
  static readonly layer: Layer.Layer<
    Accounts,
    never,
    | AppConfig
    | AuditLog
    | Idempotency
    | Ids
    | Logins
    | LoginThrottle
    | Passwords
    | Secrets
    | SessionsRepo
    | SqlClient.SqlClient
    | UsersRepo
    | Workspaces
  > = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { registration } = yield* AppConfig
      const audit = yield* AuditLog
      const idempotency = yield* Idempotency
      const ids = yield* Ids
      const logins = yield* Logins
      const throttle = yield* LoginThrottle
      const passwords = yield* Passwords
      const sessions = yield* SessionsRepo
      const users = yield* UsersRepo
      const workspaces = yield* Workspaces
      const [laneKey] = (yield* Secrets).keys("lane")

      /** Gone is an account that was deleted after this request was let in, and its session with it. */
      const own = (id: string): Effect.Effect<UserRow, InvalidToken> =>
        Effect.flatMap(users.find(id), (row) =>
          Option.isSome(row) ? Effect.succeed(row.value) : Effect.fail(new InvalidToken())
        )

      const confirm = (row: UserRow, password: Redacted.Redacted | undefined, actor: Actor) =>
        password === undefined
          ? Effect.fail(new InvalidCredentials())
          : throttle.guard(
              { account: row.email, ip: actor.origin.ip },
              Effect.filterOrFail(
                passwords.verify(password, row.password_hash, actor.origin.ip),
                (matches) => matches,
                () => new InvalidCredentials()
              )
            )

      return Accounts.of({
        register: Effect.fn("Accounts.register")(function* ({ email, name, password }, origin) {
          if (registration === "closed") return yield* new RegistrationClosed()
          yield* checkNewPassword(password, email, "password")
          yield* throttle.countRegistration(origin.ip)
          const id = yield* ids.next
          const user: UserRow = {
            id,
            email,
            name: name ?? null,
            password_hash: yield* passwords.hash(password, origin.ip),
            lane: laneOf(laneKey, id, origin.ip),
            created_at: yield* DateTime.nowAsDate
          }
          return yield* transaction(
            Effect.gen(function* () {
              const inserted = yield* users.insert(user)
              if (Option.isNone(inserted)) return yield* new EmailTaken()
              const registered = toUser(inserted.value)
              yield* audit.recordForAccount("account.registered", user.id, {
                actor_id: registered.id,
                origin
              })
              const workspace = yield* workspaces.createFor(
                registered.id,
                firstWorkspaceName(registered),
                origin
              )
              return { user: registered, workspace }
            })
          )
        }),

        get: (id) => Effect.map(own(id), toUser),

        update: Effect.fn("Accounts.update")(function* (actor, change) {
          const row = yield* own(actor.user_id)
          const email = change.email ?? row.email
          if (email !== row.email) yield* confirm(row, change.current_password, actor)
          return yield* transaction(
            Effect.gen(function* () {
              const name = change.name === undefined ? row.name : change.name
              const updated = yield* users.update({ id: row.id, email, name })
              if (Option.isNone(updated)) return yield* new EmailTaken()
              yield* audit.recordForAccount("account.updated", row.id, {
                actor_id: actor.user_id,
                origin: actor.origin,
                details: {
                  changed: Object.keys(change).filter((key) => key !== "current_password")
                }
              })
              return toUser(updated.value)
            })
          )
        }),

        changePassword: Effect.fn("Accounts.changePassword")(function* (
          actor,
          { current_password, new_password }
        ) {
          const row = yield* own(actor.user_id)
          yield* checkNewPassword(new_password, row.email, "new_password")
          yield* confirm(row, current_password, actor)
          const passwordHash = yield* passwords.hash(new_password, actor.origin.ip)
          return yield* transaction(
            Effect.gen(function* () {
              const isChanged = yield* users.updatePassword({
                id: row.id,
                from: row.password_hash,
                to: passwordHash
              })
              if (!isChanged) return yield* new InvalidCredentials()
              const sessions_ended = yield* sessions.removeAll(row.id)
              yield* audit.recordForAccount("password.changed", row.id, {
                actor_id: actor.user_id,
                origin: actor.origin,
                details: { sessions_ended }
              })
              return yield* logins.start({ ...row, password_hash: passwordHash }, actor.origin)
            }).pipe(
              Effect.catchTag("PasswordReplaced", () => Effect.fail(new InvalidCredentials()))
            )
          )
        }),

        remove: Effect.fn("Accounts.remove")(function* (actor, currentPassword) {
          const row = yield* own(actor.user_id)
          yield* confirm(row, currentPassword, actor)
          yield* transaction(
            Effect.gen(function* () {
              // Held, so that no workspace is created in between and left behind without an owner.
              if (!(yield* users.claim(row.id, row.password_hash)))
                return yield* new InvalidCredentials()
              yield* workspaces.removeOwnedAloneBy(actor)
              yield* users.remove(row.id)
              yield* idempotency.removeOwnedBy(row.id)
              yield* audit.erase(row.id)
              yield* audit.recordForAccount("account.deleted", row.id, {
                actor_id: actor.user_id,
                origin: actor.origin
              })
            })
          )
        })
      })
    })
  )
}

const checkNewPassword = (password: Redacted.Redacted, email: string, field: string) => {
  const text = Redacted.value(password)
  const problem =
    text.toLowerCase() === email
      ? "must not be your email address"
      : isCommon(text)
        ? "is one of the commonest passwords; choose another"
        : undefined
  return problem === undefined
    ? Effect.void
    : Effect.fail(
        new ValidationFailed({ issues: [{ path: [field], message: `The password ${problem}` }] })
      )
}

const firstWorkspaceName = ({ email, name }: User) =>
  `${name ?? email.slice(0, email.indexOf("@"))}'s workspace`
