import { EmailTaken, InvalidLink } from "@scheduling/domain/auth/AuthErrors"
import { Conflict, type RateLimited } from "@scheduling/domain/shared/Errors"
import { UserId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../audit/AuditLog.ts"
import {
  AppConfig,
  dayMs,
  hashLinkToken,
  linkTokenHashes,
  makeLinkToken,
  Secrets
} from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { UsageRepo } from "../../plans/index.ts"
import { AccountEvents } from "../AccountEvents.ts"
import { AccountMails } from "../../mail/index.ts"
import { transactionOf } from "../../store/index.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { UserLinksRepo } from "../users/UserLinksRepo.ts"
import { type UserRow, UsersRepo } from "../users/UsersRepo.ts"
import { emailChangedMail, verificationMail } from "./emailMails.ts"

export class EmailLinks extends Context.Service<
  EmailLinks,
  {
    /**
     * Counts an email before it is sent, because the number of emails per account and per address
     * is limited.
     */
    readonly count: (user: Pick<UserRow, "id">, to: string) => Effect.Effect<void, RateLimited>
    /**
     * Emails a token to the address that needs verification. The email is sent after the response.
     */
    readonly post: (user: UserRow) => Effect.Effect<void>
    readonly postAgain: (
      user: UserRow,
      origin: RequestOrigin
    ) => Effect.Effect<void, Conflict | RateLimited>
    /**
     * Creates a token for an operator to pass on. Returns none if no address needs verification, or
     * if the user's addresses have changed since the row was read.
     */
    readonly make: (user: UserRow) => Effect.Effect<Option.Option<Redacted.Redacted>>
    readonly find: (token: Redacted.Redacted) => Effect.Effect<Option.Option<UserRow>>
    readonly use: (
      token: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<void, EmailTaken | InvalidLink | RateLimited>
  }
>()("@scheduling/server/accounts/email/EmailLinks") {
  static readonly layer: Layer.Layer<
    EmailLinks,
    never,
    | AppConfig
    | AuditLog
    | AccountEvents
    | AccountMails
    | Secrets
    | SqlClient.SqlClient
    | Throttle
    | UsageRepo
    | UserLinksRepo
    | UsersRepo
  > = Layer.effect(
    EmailLinks,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { publicUrl } = yield* AppConfig
      const audit = yield* AuditLog
      const events = yield* AccountEvents
      const mails = yield* AccountMails
      const links = yield* UserLinksRepo
      const ring = (yield* Secrets).keys("link-token")
      const throttle = yield* Throttle
      const usage = yield* UsageRepo
      const users = yield* UsersRepo

      const make = Effect.fn("EmailLinks.make")(function* (user: UserRow, mailed = false) {
        if (emailToVerify(user) === undefined) return Option.none()
        // The token verifies whichever address is pending when it is used. It must not be sent to
        // an address that has been replaced meanwhile.
        if (!(yield* users.lockEmail(user))) return Option.none()
        const token = makeLinkToken()
        const now = yield* DateTime.nowAsDate
        yield* links.insert({
          user_id: user.id,
          purpose: "email",
          token_hash: hashLinkToken(ring, "email", token),
          expires_at: new Date(now.getTime() + linkDays * dayMs),
          mailed
        })
        return Option.some(token)
      }, transaction)

      const count = Effect.fnUntraced(function* ({ id }: Pick<UserRow, "id">, to: string) {
        if (mails.unavailable !== null) return
        yield* throttle.countMail("email links of", id)
        yield* throttle.countMailTo("email links to", to)
      })

      const post = Effect.fn("EmailLinks.post")(function* (user: UserRow) {
        const to = emailToVerify(user)
        if (to === undefined || mails.unavailable !== null) return
        const token = yield* make(user, true)
        if (Option.isNone(token) || publicUrl === undefined) return
        const mail = Effect.succeed(verificationMail(to, publicUrl, token.value))
        yield* mails.post("a link for an email", mail)
      })

      const find = Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const hashes = linkTokenHashes(ring, "email", token)
        return yield* links.findUser("email", hashes, yield* DateTime.nowAsDate)
      })

      return EmailLinks.of({
        make: (user) => make(user),
        count,
        post,
        find,

        postAgain: Effect.fn("EmailLinks.postAgain")(function* (user, origin) {
          const to = emailToVerify(user)
          if (to === undefined) {
            return yield* new Conflict({
              resource: "user",
              field: "email",
              message: "Your email address is already verified."
            })
          }
          if (mails.unavailable !== null) {
            return yield* new Conflict({
              resource: "user",
              message: "This server sends no mail. Ask its operator for a token."
            })
          }
          yield* count(user, to)
          yield* audit.recordForAccount("email.link_requested", user.id, {
            actor_id: UserId.make(user.id),
            origin
          })
          yield* post(user)
        }),

        use: Effect.fn("EmailLinks.use")(function* (token, origin) {
          yield* throttle.count("email links", origin.ip)
          const user = Option.getOrUndefined(yield* find(token))
          const email = user && emailToVerify(user)
          if (user === undefined || email === undefined) return yield* new InvalidLink()
          const isChange = email !== user.email
          yield* transaction(
            Effect.gen(function* () {
              const now = yield* DateTime.nowAsDate
              // The user's row is locked first, in the same order as when the email is changed.
              const verified = yield* users.updateEmail(user, email, now)
              if (verified === "taken") return yield* new EmailTaken()
              const hashes = linkTokenHashes(ring, "email", token)
              if (verified === "changed" || !(yield* links.remove(user.id, "email", hashes))) {
                return yield* new InvalidLink()
              }
              if (isChange) {
                // Password reset links were sent to the old address.
                yield* links.removeAny(user.id, "password reset")
                const workspaceIds = yield* usage.holdSeatsOf(user.id)
                yield* events.memberEmailRemoved(user.email, workspaceIds, origin)
              }
              yield* events.emailVerified(user.id, email, now)
              yield* audit.recordForAccount("email.verified", user.id, {
                actor_id: UserId.make(user.id),
                origin,
                details: { changed: isChange }
              })
            })
          )
          if (isChange && user.email_verified_at !== null && mails.unavailable === null) {
            const mail = Effect.succeed(emailChangedMail(user.email))
            yield* mails.post("a note about a changed email", mail)
          }
        })
      })
    })
  )
}

/** Returns the address that needs verification, if any. */
export const emailToVerify = (
  user: Pick<UserRow, "email" | "email_verified_at" | "pending_email">
): string | undefined =>
  user.pending_email ?? (user.email_verified_at === null ? user.email : undefined)

const linkDays = 7
