import { InvalidLink, type PasswordLoginOff } from "@scheduling/domain/auth/AuthErrors"
import { Conflict, type RateLimited, type ValidationFailed } from "@scheduling/domain/shared/Errors"
import { UserId } from "@scheduling/domain/shared/Ids"
import type { Redacted } from "effect"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../audit/AuditLog.ts"
import {
  AppConfig,
  hashLinkToken,
  hourMs,
  linkTokenHashes,
  makeLinkToken,
  Secrets
} from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { AccountMails } from "../../mail/index.ts"
import { transactionOf } from "../../store/index.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { UserLinksRepo } from "../users/UserLinksRepo.ts"
import { type UserRow, UsersRepo } from "../users/UsersRepo.ts"
import { checkNewPassword } from "./checkNewPassword.ts"
import { passwordLoginCheck } from "./passwordLoginCheck.ts"
import { Passwords } from "./Passwords.ts"
import { resetMail } from "./resetMail.ts"
import { AccountChangeMails } from "../auth/AccountChangeMails.ts"
import { AccountReclaims } from "../AccountReclaims.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"

export class PasswordResets extends Context.Service<
  PasswordResets,
  {
    /**
     * Emails a token if the account exists. The email is sent after the response, so that the
     * response time does not reveal whether the account exists.
     */
    readonly request: (
      email: string,
      origin: RequestOrigin
    ) => Effect.Effect<void, Conflict | PasswordLoginOff | RateLimited>
    /** Creates a token for an operator to pass on. */
    readonly make: (user: UserRow, origin: RequestOrigin) => Effect.Effect<Redacted.Redacted>
    /**
     * Sets the password and ends all of the account's sessions. The second factor is kept, unless
     * the emailed token is the first proof that the person owns the email address.
     */
    readonly use: (
      token: Redacted.Redacted,
      password: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<void, InvalidLink | PasswordLoginOff | RateLimited | ValidationFailed>
  }
>()("@scheduling/server/accounts/passwords/PasswordResets") {
  static readonly layer: Layer.Layer<
    PasswordResets,
    never,
    | AppConfig
    | AuditLog
    | AccountChangeMails
    | AccountMails
    | Passwords
    | AccountReclaims
    | Secrets
    | SessionsRepo
    | SqlClient.SqlClient
    | Throttle
    | UserLinksRepo
    | UsersRepo
  > = Layer.effect(
    PasswordResets,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { publicUrl = "" } = yield* AppConfig
      const audit = yield* AuditLog
      const changeMails = yield* AccountChangeMails
      const mails = yield* AccountMails
      const passwords = yield* Passwords
      const links = yield* UserLinksRepo
      const accountReclaims = yield* AccountReclaims
      const requirePasswordLogin = yield* passwordLoginCheck
      const ring = (yield* Secrets).keys("link-token")
      const sessions = yield* SessionsRepo
      const throttle = yield* Throttle
      const users = yield* UsersRepo

      const make = Effect.fn("PasswordResets.make")(function* (
        user: UserRow,
        origin: RequestOrigin,
        mailed = false
      ) {
        const token = makeLinkToken()
        const now = yield* DateTime.nowAsDate
        yield* links.insert({
          user_id: user.id,
          purpose: "password reset",
          token_hash: hashLinkToken(ring, "password reset", token),
          expires_at: new Date(now.getTime() + hourMs),
          mailed
        })
        yield* audit.recordForAccount("password.reset_requested", user.id, {
          actor_id: null,
          origin
        })
        return token
      }, transaction)

      const mailFor = Effect.fnUntraced(function* (email: string, origin: RequestOrigin) {
        const user = yield* users.findByEmail(email)
        if (Option.isNone(user)) return undefined
        // Anybody can register a stranger's address to make the service send emails to it.
        if (user.value.email_verified_at === null) {
          yield* throttle.countMailTo("password resets to", email)
        }
        const token = yield* transaction(
          Effect.gen(function* () {
            // The token must not be sent to an address that has been replaced meanwhile.
            if (!(yield* users.lockEmail(user.value))) return undefined
            return yield* make(user.value, origin, true)
          })
        )
        return token && resetMail(user.value, publicUrl, token)
      })

      return PasswordResets.of({
        make: (user, origin) => make(user, origin),

        request: Effect.fn("PasswordResets.request")(function* (email, origin) {
          yield* requirePasswordLogin
          if (mails.unavailable !== null) {
            return yield* new Conflict({
              resource: "user",
              message: "This server sends no mail. Ask its operator for a token."
            })
          }
          yield* throttle.count("password resets", origin.ip)
          yield* throttle.countMail("password resets of", email)
          // The account is looked up after the response, so that the response time is the same for
          // an email without an account.
          yield* mails.post(
            "a password reset",
            Effect.catchTag(mailFor(email, origin), "RateLimited", () =>
              Effect.as(
                Effect.logInfo(
                  "a password reset was not mailed: too many mails were sent to the address"
                ),
                undefined
              )
            )
          )
        }),

        use: Effect.fn("PasswordResets.use")(function* (token, password, origin) {
          yield* requirePasswordLogin
          yield* throttle.count("password resets", origin.ip)
          const hashes = linkTokenHashes(ring, "password reset", token)
          const found = yield* links.findUser("password reset", hashes, yield* DateTime.nowAsDate)
          if (Option.isNone(found)) return yield* new InvalidLink()
          const user = found.value
          yield* checkNewPassword(password, user.email, "new_password")
          const to = yield* passwords.hash(password, origin.ip)
          yield* transaction(
            Effect.gen(function* () {
              // Locks the user's row first, as a login does. A login in progress therefore waits
              // for the change and then fails.
              const change = { id: user.id, from: user.password_hash, to }
              const isChanged = yield* users.updatePassword(change)
              if (!isChanged || !(yield* links.remove(user.id, "password reset", hashes))) {
                return yield* new InvalidLink()
              }
              const sessions_ended = yield* sessions.removeAll(user.id)
              yield* links.removeRequested(user.id)
              yield* audit.recordForAccount("password.reset", user.id, {
                actor_id: UserId.make(user.id),
                origin,
                details: { sessions_ended }
              })
              if (user.mailed) yield* accountReclaims.reclaim(user, origin)
              yield* changeMails.send(user, "password", origin)
            })
          )
        })
      })
    })
  )
}
