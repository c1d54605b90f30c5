import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import { type Argon2Parameters, hashPrefix, loadArgon2 } from "./argon2.ts"
import {
  pauseForSameDuration,
  FairQueue,
  type FairQueueOptions,
  networkOf
} from "../../http/index.ts"

/** The cost of a hash. It is OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
export const HashCost = Context.Reference<Argon2Parameters>(
  "@scheduling/server/accounts/passwords/HashCost",
  {
    defaultValue: () => ({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  }
)

/**
 * Hashes passwords with Argon2id on the thread pool. Clients' networks are served in turn, so that
 * one network cannot block the others.
 */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (
      password: Redacted.Redacted,
      ip: string | null
    ) => Effect.Effect<string, RateLimited>
    /**
     * Verifies a password. Without a hash it takes the same time and returns false, so that an
     * unknown email is indistinguishable from a wrong password.
     */
    readonly verify: (
      password: Redacted.Redacted,
      passwordHash: string | undefined,
      ip: string | null
    ) => Effect.Effect<boolean, RateLimited>
    /**
     * Returns whether the queue of hashes has room. If it is full, a request can be rejected
     * without reading the database.
     */
    readonly hasRoom: (ip: string | null) => boolean
    readonly isOutdated: (passwordHash: string) => boolean
  }
>()("@scheduling/server/accounts/passwords/Passwords") {
  static readonly layer: Layer.Layer<Passwords> = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const { hash, verify } = yield* Effect.promise(loadArgon2)
      const cost = yield* HashCost
      const currentPrefix = hashPrefix(cost)
      const turns = new FairQueue<string, RateLimited>(hashQueueOptions(availableParallelism()))
      const inTurn = <A>(ip: string | null, work: () => Promise<A>) =>
        turns.run(toQueueKey(ip), Effect.promise(work))

      const hashOf = (password: Redacted.Redacted) => hash(Redacted.value(password), cost)
      const dummyHash = yield* Effect.promise(() => hash(randomBytes(32), cost))

      return Passwords.of({
        hash: (password, ip) => inTurn(ip, () => hashOf(password)),
        verify: (password, passwordHash, ip) =>
          inTurn(ip, () => verify(passwordHash ?? dummyHash, Redacted.value(password))).pipe(
            Effect.map((matches) => matches && passwordHash !== undefined)
          ),
        hasRoom: (ip) => turns.hasRoomFor(toQueueKey(ip)),
        isOutdated: (passwordHash) => !passwordHash.startsWith(currentPrefix)
      })
    })
  )
}

/**
 * Returns the options of the queue of hashes. Hashes use up to half of the cores, so that other
 * requests continue. With one or two cores, where the database also needs one, hashes use half of
 * one core's time.
 */
export const hashQueueOptions = (cores: number): FairQueueOptions<RateLimited> => ({
  atOnce: Math.max(1, Math.floor(cores / 2)),
  ...(cores <= 2 ? { pause: pauseForSameDuration } : {}),
  bound: {
    maxWaiting: cores * 32,
    refusal: Effect.fail(new RateLimited({ retry_after: 1 }))
  }
})

const toQueueKey = (ip: string | null) => (ip === null ? "" : networkOf(ip))
