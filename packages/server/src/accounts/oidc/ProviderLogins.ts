import { RateLimited } from "@scheduling/domain/shared/Errors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import { Context, Effect, Layer, Option, Semaphore } from "effect"
import { randomNonce, randomPKCECodeVerifier, randomState } from "openid-client"
import { AppConfig } from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { Logins } from "../sessions/Logins.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { ClaimedRoles } from "./ClaimedRoles.ts"
import {
  IdentityProvider,
  type ProvidedPerson,
  type ProviderFailure,
  type SignInSecrets
} from "./IdentityProvider.ts"
import { LinkedAccounts, ProviderSignInRefused } from "./LinkedAccounts.ts"
import { ProviderSessions } from "./ProviderSessions.ts"

/** Signs people in through the configured identity provider. */
export class ProviderLogins extends Context.Service<
  ProviderLogins,
  {
    /** The name of the provider. Undefined if no provider is configured. */
    readonly name: string | undefined
    readonly begin: (
      origin: RequestOrigin
    ) => Effect.Effect<
      { readonly url: string; readonly secrets: SignInSecrets },
      ProviderFailure | ProviderSignInRefused | RateLimited
    >
    readonly finish: (
      query: string,
      secrets: SignInSecrets,
      origin: RequestOrigin
    ) => Effect.Effect<TokenPair, ProviderFailure | ProviderSignInRefused | RateLimited>
  }
>()("@scheduling/server/accounts/oidc/ProviderLogins") {
  static readonly layer: Layer.Layer<
    ProviderLogins,
    never,
    | AppConfig
    | ClaimedRoles
    | IdentityProvider
    | LinkedAccounts
    | Logins
    | ProviderSessions
    | Throttle
  > = Layer.effect(
    ProviderLogins,
    Effect.gen(function* () {
      const { registration } = yield* AppConfig
      const claimedRoles = yield* ClaimedRoles
      const linked = yield* LinkedAccounts
      const provider = yield* IdentityProvider
      const logins = yield* Logins
      const providerSessions = yield* ProviderSessions
      const throttle = yield* Throttle

      const exchanges = yield* Semaphore.make(maxExchanges)
      const withPermit = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.flatMap(
          exchanges.withPermitsIfAvailable(1)(effect),
          Option.match({
            onNone: () => Effect.fail(new RateLimited({ retry_after: 1 })),
            onSome: Effect.succeed
          })
        )

      const mayRegister = ({ roles }: ProvidedPerson, allowedDomains: unknown) =>
        registration === "open" || allowedDomains !== undefined || claimedRoles.grants(roles)

      const findOrCreate = Effect.fnUntraced(function* (
        person: ProvidedPerson,
        settings: NonNullable<IdentityProvider["Service"]>["settings"],
        origin: RequestOrigin
      ) {
        const { allowedDomains, issuer } = settings
        const { email, name, roles, subject } = person
        if (allowedDomains !== undefined && !isInDomain(email, allowedDomains)) {
          const problem = email === undefined ? "email_unverified" : "domain_not_allowed"
          return yield* new ProviderSignInRefused({ problem })
        }
        return yield* linked.findOrCreate(
          { issuer, subject, email, name },
          {
            mayRegister: mayRegister(person, allowedDomains),
            hasWorkspace: !claimedRoles.grants(roles)
          },
          origin
        )
      })

      return ProviderLogins.of({
        name: provider?.settings.name,

        begin: Effect.fn("ProviderLogins.begin")(function* (origin) {
          if (provider === undefined) {
            return yield* new ProviderSignInRefused({ problem: "not_configured" })
          }
          yield* throttle.count("provider sign-ins", origin.ip)
          const secrets = {
            state: randomState(),
            nonce: randomNonce(),
            verifier: randomPKCECodeVerifier()
          }
          return { url: yield* withPermit(provider.authorizationUrl(secrets)), secrets }
        }),

        finish: Effect.fn("ProviderLogins.finish")(function* (query, secrets, origin) {
          if (provider === undefined) {
            return yield* new ProviderSignInRefused({ problem: "not_configured" })
          }
          yield* throttle.count("provider sign-ins", origin.ip)
          const person = yield* withPermit(provider.finish(query, secrets))
          const user = yield* findOrCreate(person, provider.settings, origin)
          yield* claimedRoles.apply(user, person.roles, origin)
          return yield* logins
            .start(user, origin, {
              beganWith: "provider",
              onStarted: (sessionId) => providerSessions.begin(sessionId, person)
            })
            .pipe(
              Effect.catchTag("PasswordReplaced", () =>
                Effect.fail(new ProviderSignInRefused({ problem: "account_disabled" }))
              )
            )
        })
      })
    })
  )
}

/**
 * The maximum number of concurrent exchanges between a node and the provider, so that a slow
 * provider cannot occupy the whole node.
 */
const maxExchanges = 32

const isInDomain = (email: string | undefined, domains: ReadonlyArray<string>) =>
  email !== undefined && domains.some((domain) => email.endsWith(`@${domain.toLowerCase()}`))
