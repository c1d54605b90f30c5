import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { dayMs, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"
import { UsersRepo } from "../users/UsersRepo.ts"
import { ClaimedRoles } from "./ClaimedRoles.ts"
import { IdentitiesRepo } from "./IdentitiesRepo.ts"
import { IdentityProvider, type ProvidedPerson } from "./IdentityProvider.ts"

/**
 * Sessions that began with a sign-in at the identity provider. At each refresh, the service checks
 * with the provider again.
 */
export class ProviderSessions extends Context.Service<
  ProviderSessions,
  {
    /**
     * Records that the session began with a sign-in at the provider. Call it in the transaction
     * that inserts the session.
     */
    readonly begin: (
      sessionId: string,
      person: Pick<ProvidedPerson, "refreshToken">
    ) => Effect.Effect<void>
    /**
     * Checks the person with the provider and applies their roles. Returns false if the session
     * must end: the provider no longer knows the person, or could not be reached for a day.
     */
    readonly check: (
      session: Pick<SessionRow, "id" | "user_id">,
      origin: RequestOrigin
    ) => Effect.Effect<boolean>
    /** Returns the effect that revokes the provider's token after the session has ended. */
    readonly prepareRevocation: (sessionId: string) => Effect.Effect<Effect.Effect<void>>
  }
>()("@scheduling/server/accounts/oidc/ProviderSessions") {
  static readonly layer: Layer.Layer<
    ProviderSessions,
    never,
    ClaimedRoles | IdentitiesRepo | IdentityProvider | Secrets | UsersRepo
  > = Layer.effect(
    ProviderSessions,
    Effect.gen(function* () {
      const claimedRoles = yield* ClaimedRoles
      const identities = yield* IdentitiesRepo
      const provider = yield* IdentityProvider
      const ring = (yield* Secrets).keys("provider-token")
      const users = yield* UsersRepo

      const sealed = (sessionId: string, token: Redacted.Redacted | undefined) =>
        token === undefined ? null : seal(ring, sessionId, Redacted.value(token))

      const find = Effect.fnUntraced(function* (sessionId: string) {
        const row = yield* identities.findSession(sessionId, provider?.settings.issuer ?? "")
        return Option.map(row, ({ sealed_token, ...session }) => {
          const text = sealed_token && unsealIfKnown(ring, sessionId, sealed_token)
          const token = text ? Redacted.make(text, { label: "refresh_token" }) : undefined
          return { ...session, sealed_token, token }
        })
      })

      return ProviderSessions.of({
        begin: Effect.fn("ProviderSessions.begin")(function* (session_id, { refreshToken }) {
          yield* identities.insertSession({
            session_id,
            sealed_token: sealed(session_id, refreshToken),
            checked_at: yield* DateTime.nowAsDate
          })
        }),

        check: Effect.fn("ProviderSessions.check")(function* ({ id, user_id }, origin) {
          const found = Option.getOrUndefined(yield* find(id))
          if (found === undefined) return true
          const { checked_at, subject, token } = found
          // The settings now name another provider, or the user's link to the provider was removed.
          if (provider === undefined || subject === null) return false
          const now = yield* DateTime.nowAsDate
          const isRecent = now.getTime() - checked_at.getTime() < dayMs
          if (token === undefined) return isRecent
          const person = yield* Effect.result(provider.findAgain(token, subject))
          if (person._tag === "Failure") {
            const { failure } = person
            const isGone = failure._tag === "ProviderRejected" && failure.code === "invalid_grant"
            yield* Effect.logWarning(
              isGone
                ? "the identity provider has ended the session of a user"
                : "the identity provider could not be asked about a user"
            ).pipe(Effect.annotateLogs({ user_id, reason: failure.reason }))
            return !isGone && isRecent
          }
          const { refreshToken = token, roles } = person.success
          yield* identities.updateSession({
            session_id: id,
            sealed_token: sealed(id, refreshToken),
            checked_at: now
          })
          const user = yield* users.find(user_id)
          if (Option.isSome(user)) yield* claimedRoles.apply(user.value, roles, origin)
          return true
          // The exchange cannot be interrupted: the provider may no longer accept the old refresh
          // token, so the new one must be stored.
        }, Effect.uninterruptible),

        prepareRevocation: Effect.fn("ProviderSessions.prepareRevocation")(function* (sessionId) {
          if (provider === undefined) return Effect.void
          const token = Option.getOrUndefined(yield* find(sessionId))?.token
          return token === undefined ? Effect.void : Effect.ignore(provider.revoke(token))
        })
      })
    })
  )
}
