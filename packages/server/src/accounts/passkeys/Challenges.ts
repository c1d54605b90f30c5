import { Clock, Context, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { mac, sealExpiringValue, Secrets, unsealExpiringValue } from "../../core/index.ts"
import { PasskeysRepo } from "./PasskeysRepo.ts"

/**
 * What a challenge can be used for: to sign in, or to add a passkey to the account with this id.
 */
export type ChallengePurpose = "sign in" | `add to ${string}`

/**
 * Challenges for passkeys to sign. Challenges are not stored. The browser keeps them in encrypted
 * form, so that people who do not finish leave no data behind. Each works once, for five minutes.
 */
export class Challenges extends Context.Service<
  Challenges,
  {
    readonly make: (
      purpose: ChallengePurpose
    ) => Effect.Effect<{ readonly challenge: string; readonly sealed: string }>
    /**
     * Returns the challenge. Returns undefined if another service created it, or if it has another
     * purpose or has expired.
     */
    readonly read: (purpose: ChallengePurpose, sealed: string) => Effect.Effect<string | undefined>
    /** Returns false if the challenge was used before. */
    readonly use: (challenge: string) => Effect.Effect<boolean>
  }
>()("@scheduling/server/accounts/passkeys/Challenges") {
  static readonly layer: Layer.Layer<Challenges, never, PasskeysRepo | Secrets> = Layer.effect(
    Challenges,
    Effect.gen(function* () {
      const repo = yield* PasskeysRepo
      const ring = (yield* Secrets).keys("passkey-challenge")
      return Challenges.of({
        make: Effect.fnUntraced(function* (purpose) {
          const challenge = randomBytes(32).toString("base64url")
          const until = (yield* Clock.currentTimeMillis) + challengeLifetimeMs
          return { challenge, sealed: sealExpiringValue(ring, purpose, challenge, until) }
        }),

        read: Effect.fnUntraced(function* (purpose, sealed) {
          return unsealExpiringValue<string>(ring, purpose, sealed, yield* Clock.currentTimeMillis)
        }),

        use: Effect.fnUntraced(function* (challenge) {
          const now = yield* Clock.currentTimeMillis
          const expiresAt = new Date(now + challengeLifetimeMs)
          return yield* repo.useChallenge(mac(ring[0], challenge), expiresAt, new Date(now))
        })
      })
    })
  )
}

export const challengeLifetimeMs = 5 * 60 * 1000
