import { Login, PasswordChange } from "@scheduling/domain/auth/AuthApi"
import { InvalidRefreshToken } from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import {
  isApiFailure,
  MalformedJson,
  OriginRefused,
  UnsupportedMediaType,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Accounts, FirstAccount, Logins } from "../accounts/index.ts"
import { issuesIn, panelSessionPath, requestOrigin, respond } from "../http/index.ts"
import { isOnHttps, isOwnPage, readSessionToken, sessionCookie } from "./sessionCookie.ts"

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
      const actor = yield* logins.findActor(
        (yield* tokenOfCookie) ?? Redacted.make(""),
        yield* requestOrigin
      )
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

const pageHeaders = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers)

const tokenOfCookie = Effect.map(pageHeaders, (headers) => {
  const token = readSessionToken(headers["cookie"], isOnHttps(headers))
  return token === undefined ? undefined : Redacted.make(token, { label: "refresh_token" })
})

const withCookie = (response: HttpServerResponse.HttpServerResponse, token: string | undefined) =>
  Effect.map(pageHeaders, (headers) =>
    HttpServerResponse.setHeader(response, "set-cookie", sessionCookie(token, isOnHttps(headers)))
  )

const answerWith = ({ access_token, expires_in, refresh_token, token_type }: TokenPair) =>
  withCookie(
    HttpServerResponse.jsonUnsafe(
      { access_token: Redacted.value(access_token), token_type, expires_in },
      { headers: { "cache-control": "no-store" } }
    ),
    Redacted.value(refresh_token)
  )

/**
 * Rejects requests from other pages, turns failures into responses, and removes an invalid cookie.
 */
const ownPagesOnly = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(pageHeaders, (headers) =>
    isOwnPage(headers) ? answer : respond(new OriginRefused())
  ).pipe(
    Effect.catch((error) => {
      if (!isApiFailure(error)) return Effect.die(error)
      return Effect.flatMap(respond(error), (response) =>
        error instanceof InvalidRefreshToken
          ? withCookie(response, undefined)
          : Effect.succeed(response)
      )
    })
  )

const bodyAs = <A, I>(schema: Schema.Codec<A, I>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
      return yield* new UnsupportedMediaType()
    }
    const text = yield* Effect.orDie(request.text)
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => new MalformedJson()
    })
    return yield* Effect.mapError(
      Schema.decodeUnknownEffect(schema, {
        errors: "all",
        onExcessProperty: "error",
        reportInput: true
      })(json),
      ({ issue }) => new ValidationFailed({ issues: issuesIn(issue) })
    )
  })
