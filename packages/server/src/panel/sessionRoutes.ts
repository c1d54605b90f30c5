import { LinkToken } from "@scheduling/domain/shared/LinkToken"
import { Login, PasswordChange } from "@scheduling/domain/auth/AuthApi"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Accounts, FirstAccount, Logins, ProxyLogins, SignInLinks } from "../accounts/index.ts"
import { panelLinkPath, panelProxyPath, panelSessionPath, requestOrigin } from "../http/index.ts"
import {
  actorOfCookie,
  respondWithTokens,
  readJsonBodyAs,
  rejectOtherPages,
  sessionTokenOfCookie,
  withSessionCookie
} from "./pageRequests.ts"

/**
 * Routes for the panel's login. Scripts of the panel get only access tokens. The refresh token is
 * in a cookie that scripts cannot read and that only these routes read. `/v1` ignores cookies.
 */
export const sessionRoutesLayer: Layer.Layer<
  never,
  never,
  Accounts | FirstAccount | HttpRouter.HttpRouter | Logins | ProxyLogins | SignInLinks
> = Layer.unwrap(
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const firstAccount = yield* FirstAccount
    const logins = yield* Logins
    const links = yield* SignInLinks
    const proxyLogins = yield* ProxyLogins

    const login = Effect.gen(function* () {
      const credentials = yield* readJsonBodyAs(Login)
      return yield* respondWithTokens(yield* logins.login(credentials, yield* requestOrigin))
    })

    const followLink = Effect.gen(function* () {
      const { token } = yield* readJsonBodyAs(Link)
      return yield* respondWithTokens(yield* links.use(token, yield* requestOrigin))
    })

    const signInByProxy = Effect.flatMap(proxyLogins.signIn, respondWithTokens).pipe(
      Effect.catchTag("ProviderSignInRefused", ({ problem }) =>
        Effect.succeed(
          HttpServerResponse.jsonUnsafe({ problem }, { headers: { "cache-control": "no-store" } })
        )
      )
    )

    const refresh = Effect.gen(function* () {
      const token = yield* sessionTokenOfCookie
      // Nobody is logged in. This is not an error response, because browsers would log it as an
      // error.
      if (token === undefined) return (yield* firstAccount.isAwaited) ? first : empty
      return yield* respondWithTokens(yield* logins.refresh(token, yield* requestOrigin))
    })

    const changePassword = Effect.gen(function* () {
      const passwords = yield* readJsonBodyAs(PasswordChange)
      const actor = yield* actorOfCookie(logins)
      return yield* respondWithTokens(yield* accounts.changePassword(actor, passwords))
    })

    const logout = Effect.gen(function* () {
      const token = yield* sessionTokenOfCookie
      if (token !== undefined) {
        const ended = Effect.flatMap(logins.findActor(token, yield* requestOrigin), (actor) =>
          logins.end(actor, actor.session_id)
        )
        // The session may already have ended. The cookie is removed in either case.
        yield* Effect.ignore(ended)
      }
      return yield* withSessionCookie(empty, undefined)
    })

    return Layer.mergeAll(
      HttpRouter.add("POST", panelSessionPath, rejectOtherPages(login)),
      HttpRouter.add("POST", panelLinkPath, rejectOtherPages(followLink)),
      HttpRouter.add("POST", panelProxyPath, rejectOtherPages(signInByProxy)),
      HttpRouter.add("PUT", panelSessionPath, rejectOtherPages(refresh)),
      HttpRouter.add("PATCH", panelSessionPath, rejectOtherPages(changePassword)),
      HttpRouter.add("DELETE", panelSessionPath, rejectOtherPages(logout))
    )
  })
)

const Link = Schema.Struct({ token: LinkToken })

const empty = HttpServerResponse.empty({ status: 204, headers: { "cache-control": "no-store" } })

/** The response if there is no account yet. The panel then offers to create the first account. */
const first = HttpServerResponse.jsonUnsafe(
  { awaits_first_account: true },
  { headers: { "cache-control": "no-store" } }
)
