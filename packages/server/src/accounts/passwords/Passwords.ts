import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import { type Argon2Parameters, hashPrefix, loadArgon2 } from "./argon2.ts"
import { afterARest, FairQueue, type FairQueueOptions, networkOf } from "../../http/index.ts"

/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
export const HashCost = Context.Reference<Argon2Parameters>(
  "@scheduling/server/accounts/auth/HashCost",
  {
    defaultValue: () => ({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  }
)

/** Argon2id on the thread pool. Networks take turns. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (
      password: Redacted.Redacted,
      ip: string | null
    ) => Effect.Effect<string, RateLimited>
    /**
     * Without a hash it takes the same time and returns false, so that an unknown email looks like
     * a wrong password.
     */
    readonly verify: (
      password: Redacted.Redacted,
      passwordHash: string | undefined,
      ip: string | null
    ) => Effect.Effect<boolean, RateLimited>
    /**
     * Whether the queue of hashes has room. Asking first refuses requests before they cost a
     * statement.
     */
    readonly hasRoom: (ip: string | null) => boolean
    /** Whether the hash has other parameters than the current ones. */
    readonly isOutdated: (passwordHash: string) => boolean
  }
>()("@scheduling/server/accounts/passwords/Passwords") {
  static readonly layer: Layer.Layer<Passwords> = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const { hash, verify } = yield* Effect.promise(loadArgon2)
      const cost = yield* HashCost
      const currentBeginning = hashPrefix(cost)
      const turns = new FairQueue<string, RateLimited>(hashingOn(availableParallelism()))
      const inTurn = <A>(ip: string | null, work: () => Promise<A>) =>
        turns.run(turnOf(ip), Effect.promise(work))

      const hashOf = (password: Redacted.Redacted) => hash(Redacted.value(password), cost)
      const nobodysHash = yield* Effect.promise(() => hash(randomBytes(32), cost))

      return Passwords.of({
        hash: (password, ip) => inTurn(ip, () => hashOf(password)),
        verify: (password, passwordHash, ip) =>
          inTurn(ip, () => verify(passwordHash ?? nobodysHash, Redacted.value(password))).pipe(
            Effect.map((matches) => matches && passwordHash !== undefined)
          ),
        hasRoom: (ip) => turns.hasRoomFor(turnOf(ip)),
        isOutdated: (passwordHash) => !passwordHash.startsWith(currentBeginning)
      })
    })
  )
}

/**
 * Hashes take at most half of the cores, so that other requests go on. On one or two cores, where
 * the database needs one too, they take half of the time of one.
 */
export const hashingOn = (cores: number): FairQueueOptions<RateLimited> => ({
  atOnce: Math.max(1, Math.floor(cores / 2)),
  ...(cores <= 2 ? { pause: afterARest } : {}),
  bound: {
    maxWaiting: cores * 32,
    refusal: Effect.fail(new RateLimited({ retry_after: 1 }))
  }
})

const turnOf = (ip: string | null) => (ip === null ? "" : networkOf(ip))
