import {
  EmailTaken,
  InvalidCredentials,
  InvalidToken,
  type PasswordLoginOff,
  RegistrationClosed
} from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import type { User } from "@scheduling/domain/auth/User"
import type { Conflict, RateLimited, ValidationFailed } from "@scheduling/domain/shared/Errors"
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
import { makeOwnerCheck } from "./passwords/makeOwnerCheck.ts"
import { makePasswordCheck } from "./passwords/makePasswordCheck.ts"
import type { Actor } from "./audit/currentActor.ts"
import { AccountChangeMails } from "./auth/AccountChangeMails.ts"
import { deriveLane } from "./auth/deriveLane.ts"
import { Logins } from "./sessions/Logins.ts"
import { Throttle } from "./throttle/Throttle.ts"
import { passwordLoginCheck } from "./passwords/passwordLoginCheck.ts"
import { Passwords } from "./passwords/Passwords.ts"
import { SessionsRepo } from "./sessions/SessionsRepo.ts"
import { findTokenUser } from "./users/findTokenUser.ts"
import { UserLinksRepo } from "./users/UserLinksRepo.ts"
import { toUser, type UserRow, UsersRepo } from "./users/UsersRepo.ts"

interface Registration {
  readonly email: string
  /** Undefined if nobody is to know the account's password. */
  readonly password?: Redacted.Redacted
  readonly name?: string
  /** The first workspace's name. Defaults to its owner's name. */
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
      EmailTaken | PasswordLoginOff | RegistrationClosed | RateLimited | ValidationFailed
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
     * Creates an account without a known password, for somebody whose email the identity provider
     * has verified. Call it in a transaction.
     */
    readonly createVerified: (
      input: Pick<Registration, "email"> & {
        /**
         * The result of `unknownPassword`. The caller computes it before the transaction, because
         * it takes long.
         */
        readonly password_hash: string
        readonly name: string | undefined
        /**
         * False if no workspace is created, because the person becomes a member of an existing one.
         */
        readonly hasWorkspace: boolean
      },
      origin: RequestOrigin
    ) => Effect.Effect<UserRow, EmailTaken>
    /** Generates a random password that nobody will know, and returns its hash. */
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
    /** Ends all of the account's sessions, and returns the tokens of a new session. */
    readonly changePassword: (
      actor: Actor,
      passwords: {
        readonly current_password: Redacted.Redacted
        readonly new_password: Redacted.Redacted
      }
    ) => Effect.Effect<
      TokenPair,
      InvalidCredentials | InvalidToken | PasswordLoginOff | RateLimited | ValidationFailed
    >
    readonly remove: (
      actor: Actor,
      currentPassword: Redacted.Redacted | undefined
    ) => Effect.Effect<void, InvalidCredentials | InvalidToken | RateLimited | ValidationFailed>
  }
>()("@scheduling/server/accounts/Accounts") {
  static readonly layer: Layer.Layer<
    Accounts,
    never,
    | AppConfig
    | AuditLog
    | AccountChangeMails
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
      const config = yield* AppConfig
      const { registration } = config
      const audit = yield* AuditLog
      const changeMails = yield* AccountChangeMails
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
      const requirePasswordLogin = yield* passwordLoginCheck
      const [laneKey] = (yield* Secrets).keys("lane")

      /**
       * Returns the account of the user who made the request. Fails if the account was deleted
       * after the request was authenticated.
       */
      const findOwnAccount = (id: string) => findTokenUser(users, id)

      const confirmPassword = makePasswordCheck(throttle, passwords)
      const confirmOwner = makeOwnerCheck(throttle, passwords, sessions, config)

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
            // Emails are counted per address, so that nobody can flood an address by repeatedly
            // registering and deleting accounts.
            if (by === "owner") yield* emailLinks.count(row, email)
            return { row, workspace: yield* createFirstWorkspace(toUser(row), origin, workspace) }
          })
        )
      })

      return Accounts.of({
        register: Effect.fn("Accounts.register")(function* (input, origin) {
          yield* requirePasswordLogin
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

        get: (id) => Effect.map(findOwnAccount(id), toUser),

        update: Effect.fn("Accounts.update")(function* (actor, change) {
          const row = yield* findOwnAccount(actor.user_id)
          const email = change.email ?? row.pending_email ?? row.email
          const pending_email = email === row.email ? null : email
          const isEmailChanged = pending_email !== row.pending_email
          if (isEmailChanged) {
            yield* confirmOwner(row, change.current_password, actor)
            if (pending_email !== null) {
              if (Option.isSome(yield* users.findByEmail(email))) return yield* new EmailTaken()
              yield* emailLinks.count(row, email)
            }
          }
          const updated = yield* transaction(
            Effect.gen(function* () {
              if (isEmailChanged) {
                // A password change removes the email changes that the old password confirmed.
                const isCurrent = yield* users.lock(row.id, row.password_hash)
                if (!isCurrent) return yield* new InvalidCredentials()
                yield* userLinks.removeAny(row.id, "email")
              }
              const updated = yield* users.update(row.id, {
                ...(isEmailChanged && { pending_email }),
                ...(change.name !== undefined && { name: change.name })
              })
              if (Option.isNone(updated)) return yield* new InvalidToken()
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
          if (isEmailChanged && pending_email !== null) yield* emailLinks.post(updated)
          return toUser(updated)
        }),

        resendEmailLink: (actor) =>
          Effect.flatMap(findOwnAccount(actor.user_id), (row) =>
            emailLinks.postAgain(row, actor.origin)
          ),

        changePassword: Effect.fn("Accounts.changePassword")(function* (
          actor,
          { current_password, new_password }
        ) {
          yield* requirePasswordLogin
          const row = yield* findOwnAccount(actor.user_id)
          yield* checkNewPassword(new_password, row.email, "new_password")
          yield* confirmPassword(row, current_password, actor)
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
          const row = yield* findOwnAccount(actor.user_id)
          yield* confirmOwner(row, currentPassword, actor)
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
