import { Context, Effect, Latch, Layer } from "effect"
import type { VerifiedRow } from "./ApiKeyRepo.ts"
import { ApiKeyRepo } from "./ApiKeyRepo.ts"
import { loop } from "../runner/Loop.ts"

/** Remembers uses of keys and writes them behind the requests, one statement for many keys. */
export class LastUsed extends Context.Service<
  LastUsed,
  {
    readonly touch: (key: Pick<VerifiedRow, "id" | "last_used_at">, now: Date) => void
  }
>()("@scheduling/server/api-keys/LastUsed") {
  static readonly layer: Layer.Layer<LastUsed, never, ApiKeyRepo> = Layer.effect(
    LastUsed,
    Effect.gen(function* () {
      const repo = yield* ApiKeyRepo
      const used = Latch.makeUnsafe()
      let pending = new Map<string, Date>()

      const flush = Effect.suspend(() => {
        if (pending.size === 0) return Effect.void
        const uses = pending
        pending = new Map()
        used.closeUnsafe()
        return repo.updateLastUsed(uses)
      })

      // 1. Wait for a use. 2. Gather a second of them. 3. Write them all. What a lost database
      // cannot take is dropped: the next use of the key writes it again.
      const turn = used.await.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.andThen(flush))
      yield* Effect.forkScoped(loop("noting the use of keys", turn))
      // A frozen database must not keep the process from ending.
      yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(flush, "2 seconds")))

      return LastUsed.of({
        touch: (key, now) => {
          const isFresh =
            key.last_used_at !== null && now.getTime() - key.last_used_at.getTime() < minute
          if (isFresh || pending.has(key.id)) return
          pending.set(key.id, now)
          used.openUnsafe()
        }
      })
    })
  )
}

const minute = 60_000
