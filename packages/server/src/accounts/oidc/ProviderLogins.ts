import { RateLimited } from "@scheduling/domain/shared/Errors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Data, DateTime, Effect, Layer, Option, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { randomNonce, randomPKCECodeVerifier, randomState } from "openid-client"
import { AppConfig } from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { transactionOf } from "../../store/index.ts"
import { Accounts } from "../Accounts.ts"
import { AccountReclaims } from "../AccountReclaims.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Logins } from "../sessions/Logins.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { UserLinksRepo } from "../users/UserLinksRepo.ts"
import { type UserRow, UsersRepo } from "../users/UsersRepo.ts"
import { ClaimedRoles } from "./ClaimedRoles.ts"
import { IdentitiesRepo } from "./IdentitiesRepo.ts"
import {
  IdentityProvider,
  type ProvidedPerson,
  type ProviderFailure,
  type SignInSecrets
} from "./IdentityProvider.ts"
import { ProviderSessions } from "./ProviderSessions.ts"

/** Why a person whom the provider vouches for does not get in. The sign-in page explains each. */
export type ProviderSignInProblem =
  | "not_configured"
  | "email_unverified"
  | "domain_not_allowed"
  | "registration_closed"
  | "linked_otherwise"
  | "account_disabled"

export class ProviderSignInRefused extends Data.TaggedError("ProviderSignInRefused")<{
  readonly problem: ProviderSignInProblem
}> {}

/** Signs people in with the identity provider of the settings. */
export class ProviderLogins extends Context.Service<
  ProviderLogins,
  {
    /** The name of the provider. Undefined if there is none. */
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
    | AccountReclaims
    | Accounts
    | AppConfig
    | AuditLog
    | ClaimedRoles
    | IdentitiesRepo
    | IdentityProvider
    | Logins
    | ProviderSessions
    | SessionsRepo
    | SqlClient.SqlClient
    | Throttle
    | UserLinksRepo
    | UsersRepo
  > = Layer.effect(
    ProviderLogins,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { registration } = yield* AppConfig
      const accounts = yield* Accounts
      const reclaims = yield* AccountReclaims
      const audit = yield* AuditLog
      const claimedRoles = yield* ClaimedRoles
      const identities = yield* IdentitiesRepo
      const provider = yield* IdentityProvider
      const logins = yield* Logins
      const providerSessions = yield* ProviderSessions
      const sessions = yield* SessionsRepo
      const throttle = yield* Throttle
      const links = yield* UserLinksRepo
      const users = yield* UsersRepo

      const exchanges = yield* Semaphore.make(maxExchanges)
      const withPermit = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.flatMap(
          exchanges.withPermitsIfAvailable(1)(effect),
          Option.match({
            onNone: () => Effect.fail(new RateLimited({ retry_after: 1 })),
            onSome: Effect.succeed
          })
        )

      const link = Effect.fnUntraced(function* (
        user: UserRow,
        { subject }: ProvidedPerson,
        issuer: string,
        origin: RequestOrigin
      ) {
        const created_at = yield* DateTime.nowAsDate
        if (!(yield* identities.insert({ issuer, subject, user_id: user.id, created_at }))) {
          return yield* new ProviderSignInRefused({ problem: "linked_otherwise" })
        }
        yield* audit.recordForAccount("identity.linked", user.id, {
          actor_id: UserId.make(user.id),
          origin,
          details: { issuer }
        })
      })

      /**
       * Links an existing account. If its email was never verified, somebody else may have registered
       * it: their password, sessions and keys end.
       */
      const linkExisting = Effect.fnUntraced(function* (
        user: UserRow,
        person: ProvidedPerson,
        issuer: string,
        origin: RequestOrigin
      ) {
        const isVerified = user.email_verified_at !== null
        const to = isVerified ? user.password_hash : yield* accounts.unknownPassword(origin)
        return yield* transaction(
          Effect.gen(function* () {
            if (!isVerified) {
              const change = { id: user.id, from: user.password_hash, to }
              if (!(yield* users.removePassword(change))) {
                return yield* new ProviderSignInRefused({ problem: "linked_otherwise" })
              }
              yield* sessions.removeAll(user.id)
              yield* links.removeRequested(user.id)
              yield* reclaims.reclaim(user, origin)
            }
            yield* link(user, person, issuer, origin)
            return { ...user, password_hash: to }
          })
        )
      })

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
        const known = yield* identities.findUser(issuer, subject)
        if (Option.isSome(known)) return known.value
        if (email === undefined) {
          return yield* new ProviderSignInRefused({ problem: "email_unverified" })
        }
        const existing = yield* users.findByEmail(email)
        if (Option.isSome(existing)) {
          return yield* linkExisting(existing.value, person, issuer, origin)
        }
        if (!mayRegister(person, allowedDomains)) {
          return yield* new ProviderSignInRefused({ problem: "registration_closed" })
        }
        const password_hash = yield* accounts.unknownPassword(origin)
        return yield* transaction(
          Effect.gen(function* () {
            const user = yield* accounts.createVerified(
              { email, name, password_hash, hasWorkspace: !claimedRoles.grants(roles) },
              origin
            )
            yield* link(user, person, issuer, origin)
            return user
          })
        ).pipe(
          Effect.catchTag("EmailTaken", () =>
            Effect.fail(new ProviderSignInRefused({ problem: "linked_otherwise" }))
          )
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

/** How many exchanges with the provider a node has at a time, so that a slow provider holds few. */
const maxExchanges = 32

const isInDomain = (email: string | undefined, domains: ReadonlyArray<string>) =>
  email !== undefined && domains.some((domain) => email.endsWith(`@${domain.toLowerCase()}`))
