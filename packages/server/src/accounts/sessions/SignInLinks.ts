import { InvalidLink } from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { hashLinkToken, hourMs, linkTokenHashes, makeLinkToken, Secrets } from "../../core/index.ts"
import { operatorOrigin } from "../operatorOrigin.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { transactionOf } from "../../store/index.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { UserLinksRepo } from "../users/UserLinksRepo.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { Logins } from "./Logins.ts"

/** Sign-in links that an operator creates for people who cannot sign in any other way. */
export class SignInLinks extends Context.Service<
  SignInLinks,
  {
    /** Creates a token, which replaces the user's earlier one. */
    readonly make: (user: UserRow) => Effect.Effect<Redacted.Redacted>
    /** Starts a session. The token works once, within an hour. */
    readonly use: (
      token: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, InvalidLink | RateLimited>
  }
>()("@scheduling/server/accounts/sessions/SignInLinks") {
  static readonly layer: Layer.Layer<
    SignInLinks,
    never,
    AuditLog | Logins | Secrets | SqlClient.SqlClient | Throttle | UserLinksRepo
  > = Layer.effect(
    SignInLinks,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const links = yield* UserLinksRepo
      const logins = yield* Logins
      const ring = (yield* Secrets).keys("link-token")
      const throttle = yield* Throttle

      return SignInLinks.of({
        make: Effect.fn("SignInLinks.make")(function* (user) {
          const token = makeLinkToken()
          const now = yield* DateTime.nowAsDate
          yield* links.insert({
            user_id: user.id,
            purpose: "sign in",
            token_hash: hashLinkToken(ring, "sign in", token),
            expires_at: new Date(now.getTime() + hourMs),
            mailed: false
          })
          yield* audit.recordForAccount("session.link_created", user.id, {
            actor_id: null,
            origin: operatorOrigin
          })
          return token
        }, transaction),

        use: Effect.fn("SignInLinks.use")(function* (token, origin) {
          yield* throttle.count("sign-in links", origin.ip)
          const hashes = linkTokenHashes(ring, "sign in", token)
          const user = yield* links.findUser("sign in", hashes, yield* DateTime.nowAsDate)
          if (Option.isNone(user)) return yield* new InvalidLink()
          const { id } = user.value
          if (!(yield* links.remove(id, "sign in", hashes))) return yield* new InvalidLink()
          return yield* Effect.catchTag(
            logins.start(user.value, origin, { beganWith: "link" }),
            "PasswordReplaced",
            () => Effect.fail(new InvalidLink())
          )
        })
      })
    })
  )
}
