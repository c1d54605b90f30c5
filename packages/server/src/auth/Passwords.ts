import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import { loadArgon2 } from "./argon2.ts"
import { HashTurns, turnsOn } from "./HashTurns.ts"
import { networkOf } from "../platform/networkOf.ts"

/** Argon2id, on the thread pool, where those who ask from one address or another take turns. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (
      password: Redacted.Redacted,
      ip: string | null
    ) => Effect.Effect<string, RateLimited>
    /** With no hash to compare it takes the same time and says no: an unknown email looks like a wrong password. */
    readonly verify: (
      password: Redacted.Redacted,
      passwordHash: string | undefined,
      ip: string | null
    ) => Effect.Effect<boolean, RateLimited>
    /** Whether to ask at all: what is turned away here has cost no statement. */
    readonly hasRoom: (ip: string | null) => boolean
    /** Made with other parameters than today's. */
    readonly isOutdated: (passwordHash: string) => boolean
  }
>()("@scheduling/server/auth/Passwords") {
  static readonly layer: Layer.Layer<Passwords> = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const { hash, verify } = yield* Effect.promise(loadArgon2)
      const turns = new HashTurns(turnsOn(availableParallelism()))
      const inTurn = <A>(ip: string | null, work: () => Promise<A>) =>
        turns.take(turnOf(ip), Effect.promise(work))

      const hashOf = (password: Redacted.Redacted) => hash(Redacted.value(password), parameters)
      const nobodysHash = yield* Effect.promise(() => hash(randomBytes(32), parameters))

      return Passwords.of({
        hash: (password, ip) => inTurn(ip, () => hashOf(password)),
        verify: (password, passwordHash, ip) =>
          inTurn(ip, () => verify(passwordHash ?? nobodysHash, Redacted.value(password))).pipe(
            Effect.map((matches) => matches && passwordHash !== undefined)
          ),
        hasRoom: (ip) => turns.hasRoomFor(turnOf(ip)),
        isOutdated: (passwordHash) => !passwordHash.startsWith(currentParameters)
      })
    })
  )
}

const turnOf = (ip: string | null) => (ip === null ? "" : networkOf(ip))

/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const currentParameters = "$argon2id$v=19$m=19456,t=2,p=1$"
