import { Login, PasswordChange } from "@scheduling/domain/auth/AuthApi"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Accounts, FirstAccount, Logins } from "../accounts/index.ts"
import { panelSessionPath, requestOrigin } from "../http/index.ts"
import {
  actorOfCookie,
  answerWith,
  bodyAs,
  ownPagesOnly,
  tokenOfCookie,
  withCookie
} from "./pageRequests.ts"

/**
 * Routes for the panel's login. Scripts of the panel get only access tokens. The refresh token is
 * in a cookie that scripts cannot read and that only these routes read. `/v1` ignores cookies.
 */
export const sessionRoutesLayer: Layer.Layer<
  never,
  never,
  Accounts | FirstAccount | HttpRouter.HttpRouter | Logins
> = Layer.unwrap(
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const firstAccount = yield* FirstAccount
    const logins = yield* Logins

    const login = Effect.gen(function* () {
      const credentials = yield* bodyAs(Login)
      return yield* answerWith(yield* logins.login(credentials, yield* requestOrigin))
    })

    const refresh = Effect.gen(function* () {
      const token = yield* tokenOfCookie
      // Nobody is logged in. This is not an error response, because browsers would log it as an
      // error.
      if (token === undefined) return (yield* firstAccount.isAwaited) ? first : empty
      return yield* answerWith(yield* logins.refresh(token, yield* requestOrigin))
    })

    const changePassword = Effect.gen(function* () {
      const passwords = yield* bodyAs(PasswordChange)
      const actor = yield* actorOfCookie(logins)
      return yield* answerWith(yield* accounts.changePassword(actor, passwords))
    })

    const logout = Effect.gen(function* () {
      const token = yield* tokenOfCookie
      if (token !== undefined) {
        const ended = Effect.flatMap(logins.findActor(token, yield* requestOrigin), (actor) =>
          logins.end(actor, actor.session_id)
        )
        // The session may have ended already. The cookie is removed either way.
        yield* Effect.ignore(ended)
      }
      return yield* withCookie(empty, undefined)
    })

    return Layer.mergeAll(
      HttpRouter.add("POST", panelSessionPath, ownPagesOnly(login)),
      HttpRouter.add("PUT", panelSessionPath, ownPagesOnly(refresh)),
      HttpRouter.add("PATCH", panelSessionPath, ownPagesOnly(changePassword)),
      HttpRouter.add("DELETE", panelSessionPath, ownPagesOnly(logout))
    )
  })
)

// ---------------------------------------------------------------------------

const empty = HttpServerResponse.empty({ status: 204, headers: { "cache-control": "no-store" } })

/** The response if there is no account yet. The panel then offers to create the first account. */
const first = HttpServerResponse.jsonUnsafe(
  { awaits_first_account: true },
  { headers: { "cache-control": "no-store" } }
)
