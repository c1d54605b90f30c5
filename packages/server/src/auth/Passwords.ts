import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Redacted, Semaphore } from "effect"
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import { loadArgon2 } from "./argon2.ts"

/** Argon2id, on the thread pool and never more at once than there are cores. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: Redacted.Redacted) => Effect.Effect<string, RateLimited>
    /** With no hash to compare it takes the same time and says no: an unknown email looks like a wrong password. */
    readonly verify: (
      password: Redacted.Redacted,
      passwordHash: string | undefined
    ) => Effect.Effect<boolean, RateLimited>
    /** Made with other parameters than today's. */
    readonly isOutdated: (passwordHash: string) => boolean
  }
>()("@scheduling/server/auth/Passwords") {
  static readonly layer: Layer.Layer<Passwords> = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const { hash, verify } = yield* Effect.promise(loadArgon2)
      const cores = availableParallelism()
      const turn = Semaphore.makeUnsafe(cores)
      const maxWaiting = cores * 32
      let waiting = 0

      /** A flood of logins waits here, and past a bound is turned away, so that it costs nobody else. */
      const inTurn = <A>(work: () => Promise<A>): Effect.Effect<A, RateLimited> =>
        Effect.suspend(() => {
          if (waiting >= maxWaiting) return Effect.fail(new RateLimited({ retry_after: 1 }))
          waiting++
          return turn
            .withPermit(Effect.promise(work))
            .pipe(Effect.ensuring(Effect.sync(() => waiting--)))
        })

      const hashOf = (password: Redacted.Redacted) => hash(Redacted.value(password), parameters)
      const nobodysHash = yield* Effect.promise(() => hash(randomBytes(32), parameters))

      return Passwords.of({
        hash: (password) => inTurn(() => hashOf(password)),
        verify: (password, passwordHash) =>
          inTurn(() => verify(passwordHash ?? nobodysHash, Redacted.value(password))).pipe(
            Effect.map((matches) => matches && passwordHash !== undefined)
          ),
        isOutdated: (passwordHash) => !passwordHash.startsWith(currentParameters)
      })
    })
  )
}

/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const currentParameters = "$argon2id$v=19$m=19456,t=2,p=1$"
