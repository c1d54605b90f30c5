import { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"
import { requestOrigin } from "../../http/index.ts"
import { LinkedAccounts, ProviderSignInRefused } from "../oidc/LinkedAccounts.ts"
import { Logins } from "../sessions/Logins.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { proxiedEmail } from "./proxiedEmail.ts"
import { proxyIssuer } from "./proxyIssuer.ts"

/** Signs in people whom an authenticating proxy has identified. */
export class ProxyLogins extends Context.Service<
  ProxyLogins,
  {
    readonly isConfigured: boolean
    /** Signs in the person whom the proxy names in the request. */
    readonly signIn: Effect.Effect<
      TokenPair,
      InvalidCredentials | ProviderSignInRefused | RateLimited,
      HttpServerRequest.HttpServerRequest
    >
  }
>()("@scheduling/server/accounts/proxy/ProxyLogins") {
  static readonly layer: Layer.Layer<
    ProxyLogins,
    never,
    AppConfig | LinkedAccounts | Logins | Throttle
  > = Layer.effect(
    ProxyLogins,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const linked = yield* LinkedAccounts
      const logins = yield* Logins
      const throttle = yield* Throttle

      return ProxyLogins.of({
        isConfigured: config.authProxyHeader !== undefined,

        signIn: Effect.gen(function* () {
          const origin = yield* requestOrigin
          yield* throttle.count("provider sign-ins", origin.ip)
          const email = yield* proxiedEmail(config)
          if (email === undefined) return yield* notNamed
          const user = yield* linked.findOrCreate(
            { issuer: proxyIssuer, subject: email, email, name: undefined },
            { mayRegister: config.registration === "open", hasWorkspace: true },
            origin
          )
          return yield* Effect.catchTag(
            logins.start(user, origin, { beganWith: "proxy" }),
            "PasswordReplaced",
            () => Effect.fail(new ProviderSignInRefused({ problem: "account_disabled" }))
          )
        })
      })
    })
  )
}

const notNamed = Effect.suspend(() =>
  Effect.fail(
    new InvalidCredentials({
      message: "The proxy did not identify you. Open the panel at the address of the proxy."
    })
  )
)
