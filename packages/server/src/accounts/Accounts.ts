import {
  EmailTaken,
  InvalidCredentials,
  InvalidToken,
  RegistrationClosed
} from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import type { User } from "@scheduling/domain/auth/User"
import { type Conflict, type RateLimited, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { UserId } from "@scheduling/domain/shared/Ids"
import type { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { Context, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, Ids, makeLinkToken, Secrets } from "../core/index.ts"
import { Idempotency, type RequestOrigin } from "../http/index.ts"
import { operatorOrigin } from "./operatorOrigin.ts"
import { UsageRepo } from "../plans/index.ts"
import { transactionOf } from "../store/index.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { InvitationsRepo } from "./members/InvitationsRepo.ts"
import { EndSignals } from "../events/index.ts"
import { Workspaces } from "./workspaces/Workspaces.ts"
import { AccountEvents } from "./AccountEvents.ts"
import { checkNewPassword } from "./passwords/checkNewPassword.ts"
import { EmailLinks } from "./email/EmailLinks.ts"
import { makePasswordCheck } from "./passwords/makePasswordCheck.ts"
import type { Actor } from "./audit/currentActor.ts"
import { ChangeMails } from "./auth/ChangeMails.ts"
import { deriveLane } from "./auth/deriveLane.ts"
import { Logins } from "./sessions/Logins.ts"
import { Throttle } from "./throttle/Throttle.ts"
import { Passwords } from "./passwords/Passwords.ts"
import { SessionsRepo } from "./sessions/SessionsRepo.ts"
import { findTokenUser } from "./users/findTokenUser.ts"
import { UserLinksRepo } from "./users/UserLinksRepo.ts"
import { toUser, type UserRow, UsersRepo } from "./users/UsersRepo.ts"

interface Registration {
  readonly email: string
  /** If undefined, nobody knows the password. */
  readonly password?: Redacted.Redacted
  readonly name?: string
  /** The name of the first workspace. Defaults to the name of its owner. */
  readonly workspace?: string | undefined
}

export class Accounts extends Context.Service<
  Accounts,
  {
    readonly register: (
      input: Registration & { readonly password: Redacted.Redacted },
      origin: RequestOrigin
    ) => Effect.Effect<
      { readonly user: User; readonly workspace: Workspace },
      EmailTaken | RegistrationClosed | RateLimited | ValidationFailed
    >
    /**
     * Creates an account for an operator, even if registration is closed. Without a password, the
     * owner has to reset it.
     */
    readonly create: (
      input: Registration
    ) => Effect.Effect<
      { readonly row: UserRow; readonly workspace: Workspace },
      EmailTaken | RateLimited
    >
    /**
     * Creates an account for somebody whose email the identity provider has verified, without a
     * known password. Call it in a transaction.
     */
    readonly createVerified: (
      input: Pick<Registration, "email"> & {
        /** The result of `unknownPassword`, which takes too long for a transaction. */
        readonly password_hash: string
        readonly name: string | undefined
        /** False if the person gets into another workspace. */
        readonly hasWorkspace: boolean
      },
      origin: RequestOrigin
    ) => Effect.Effect<UserRow, EmailTaken>
    /** Returns the hash of a password that nobody knows. */
    readonly unknownPassword: (origin: RequestOrigin) => Effect.Effect<string, RateLimited>
    readonly get: (id: string) => Effect.Effect<User, InvalidToken>
    readonly update: (
      actor: Actor,
      change: {
        readonly name?: string | null
        readonly email?: string
        readonly current_password?: Redacted.Redacted
      }
    ) => Effect.Effect<
      User,
      EmailTaken | InvalidCredentials | InvalidToken | RateLimited | ValidationFailed
    >
    readonly resendEmailLink: (
      actor: Actor
    ) => Effect.Effect<void, Conflict | InvalidToken | RateLimited>
    /** Ends every session of the account and returns the tokens of a new one. */
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
>()("@scheduling/server/accounts/Accounts") {
  static readonly layer: Layer.Layer<
    Accounts,
    never,
    | AppConfig
    | AuditLog
    | ChangeMails
    | AccountEvents
    | EmailLinks
    | EndSignals
    | Idempotency
    | Ids
    | InvitationsRepo
    | Logins
    | Throttle
    | Passwords
    | Secrets
    | SessionsRepo
    | SqlClient.SqlClient
    | UserLinksRepo
    | UsageRepo
    | UsersRepo
    | Workspaces
  > = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { registration } = yield* AppConfig
      const audit = yield* AuditLog
      const changeMails = yield* ChangeMails
      const events = yield* AccountEvents
      const emailLinks = yield* EmailLinks
      const endSignals = yield* EndSignals
      const idempotency = yield* Idempotency
      const ids = yield* Ids
      const invitations = yield* InvitationsRepo
      const logins = yield* Logins
      const throttle = yield* Throttle
      const passwords = yield* Passwords
      const sessions = yield* SessionsRepo
      const userLinks = yield* UserLinksRepo
      const usage = yield* UsageRepo
      const users = yield* UsersRepo
      const workspaces = yield* Workspaces
      const [laneKey] = (yield* Secrets).keys("lane")

      /** Fails if the account was deleted after the request was authenticated. */
      const own = (id: string) => findTokenUser(users, id)

      const confirm = makePasswordCheck(throttle, passwords)

      const insertUser = Effect.fnUntraced(function* (
        user: Pick<
          UserRow,
          "email" | "email_verified_at" | "name" | "password_hash" | "has_password"
        >,
        origin: RequestOrigin
      ) {
        const id = yield* ids.next
        const inserted = yield* users.insert({
          id,
          ...user,
          pending_email: null,
          lane: deriveLane(laneKey, id, origin.ip),
          created_at: yield* DateTime.nowAsDate
        })
        if (Option.isNone(inserted)) return yield* new EmailTaken()
        yield* audit.recordForAccount("account.registered", id, {
          actor_id: UserId.make(id),
          origin
        })
        return inserted.value
      })

      const createFirstWorkspace = (
        user: User,
        origin: RequestOrigin,
        name = firstWorkspaceName(user)
      ) => workspaces.createFor(user.id, name, origin)

      const create = Effect.fnUntraced(function* (
        { email, name, password, workspace }: Registration,
        origin: RequestOrigin,
        by: "owner" | "operator"
      ) {
        const user = {
          email,
          email_verified_at: null,
          name: name ?? null,
          password_hash: yield* passwords.hash(password ?? makeLinkToken(), origin.ip),
          has_password: password !== undefined
        }
        return yield* transaction(
          Effect.gen(function* () {
            const row = yield* insertUser(user, origin)
            // Mails are counted by address, so that nobody can flood an address by registering and
            // deleting accounts.
            if (by === "owner") yield* emailLinks.count(row, email)
            return { row, workspace: yield* createFirstWorkspace(toUser(row), origin, workspace) }
          })
        )
      })

      return Accounts.of({
        register: Effect.fn("Accounts.register")(function* (input, origin) {
          if (registration === "closed") return yield* new RegistrationClosed()
          yield* checkNewPassword(input.password, input.email, "password")
          yield* throttle.count("registrations", origin.ip)
          const { row, workspace } = yield* create(input, origin, "owner")
          yield* emailLinks.post(row)
          return { user: toUser(row), workspace }
        }),

        create: (input) => create(input, operatorOrigin, "operator"),

        unknownPassword: (origin) => passwords.hash(makeLinkToken(), origin.ip),

        createVerified: Effect.fn("Accounts.createVerified")(function* (
          { email, hasWorkspace, name, password_hash },
          origin
        ) {
          const now = yield* DateTime.nowAsDate
          const row = yield* insertUser(
            {
              email,
              email_verified_at: now,
              name: name ?? null,
              password_hash,
              has_password: false
            },
            origin
          )
          yield* events.emailVerified(row.id, email, now)
          if (hasWorkspace) yield* createFirstWorkspace(toUser(row), origin)
          return row
        }),

        get: (id) => Effect.map(own(id), toUser),

        update: Effect.fn("Accounts.update")(function* (actor, change) {
          const row = yield* own(actor.user_id)
          const email = change.email ?? row.pending_email ?? row.email
          if (email !== (row.pending_email ?? row.email)) {
            if (change.current_password === undefined) return yield* passwordRequired
            yield* confirm(row, change.current_password, actor)
            if (email !== row.email && Option.isSome(yield* users.findByEmail(email))) {
              return yield* new EmailTaken()
            }
            if (email !== row.email) yield* emailLinks.count(row, email)
          }
          const pending_email = email === row.email ? null : email
          const updated = yield* transaction(
            Effect.gen(function* () {
              const name = change.name === undefined ? row.name : change.name
              const updated = yield* users.update({ id: row.id, pending_email, name })
              if (Option.isNone(updated)) return yield* new InvalidToken()
              if (pending_email !== row.pending_email) {
                yield* userLinks.removeAny(row.id, "email")
              }
              yield* audit.recordForAccount("account.updated", row.id, {
                actor_id: actor.user_id,
                origin: actor.origin,
                details: {
                  changed: Object.keys(change).filter((key) => key !== "current_password")
                }
              })
              return updated.value
            })
          )
          if (pending_email !== null && pending_email !== row.pending_email) {
            yield* emailLinks.post(updated)
          }
          return toUser(updated)
        }),

        resendEmailLink: (actor) =>
          Effect.flatMap(own(actor.user_id), (row) => emailLinks.postAgain(row, actor.origin)),

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
              yield* userLinks.removeRequested(row.id)
              yield* audit.recordForAccount("password.changed", row.id, {
                actor_id: actor.user_id,
                origin: actor.origin,
                details: { sessions_ended }
              })
              yield* changeMails.send(row, "password", actor.origin)
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
              // The account is locked, because a workspace created during the deletion would have
              // no owner.
              if (!(yield* users.lock(row.id, row.password_hash)))
                return yield* new InvalidCredentials()
              yield* workspaces.removeSolelyOwned(actor)
              const others = yield* usage.holdSeatsOf(row.id)
              yield* events.memberEmailRemoved(row.email, others, actor.origin)
              yield* users.remove(row.id)
              yield* usage.record("seats", others, yield* DateTime.nowAsDate)
              yield* invitations.removeByEmail(row.email)
              yield* idempotency.removeOwnedBy(row.id)
              yield* audit.erase(row.id)
              yield* audit.recordForAccount("account.deleted", row.id, {
                actor_id: actor.user_id,
                origin: actor.origin
              })
            })
          )
          endSignals.send([row.id])
        })
      })
    })
  )
}

const firstWorkspaceName = ({ email, name }: User) =>
  `${name ?? email.slice(0, email.indexOf("@"))}'s workspace`

const passwordRequired = Effect.suspend(() =>
  ValidationFailed.at(["current_password"], "required", "is required to change the email")
)
