import type { ApiKeyId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Latch, Layer } from "effect"
import { loop } from "../../core/index.ts"
import { ApiKeyRepo, type VerifiedKeyRow } from "./ApiKeyRepo.ts"
import { type KeyUse, KeyUsesRepo } from "./KeyUsesRepo.ts"

/**
 * Collects the uses of keys during requests and writes them afterwards, many keys per statement.
 */
export class KeyUses extends Context.Service<
  KeyUses,
  {
    /** Records when the key was used, for `last_used_at`. */
    readonly touch: (key: Pick<VerifiedKeyRow, "id" | "last_used_at">, now: Date) => void
    /** Records that the key used a scope or was used from an address, at most once an hour. */
    readonly note: (keyId: ApiKeyId, kind: KeyUse["kind"], what: string) => void
  }
>()("@scheduling/server/accounts/api-keys/KeyUses") {
  static readonly layer: Layer.Layer<KeyUses, never, ApiKeyRepo | KeyUsesRepo> = Layer.effect(
    KeyUses,
    Effect.gen(function* () {
      const keys = yield* ApiKeyRepo
      const repo = yield* KeyUsesRepo
      const used = Latch.makeUnsafe()
      let touched = new Map<string, Date>()
      let noted = new Map<string, KeyUse>()
      const known = new Set<string>()

      const writeTouched = Effect.suspend(() => {
        if (touched.size === 0) return Effect.void
        const uses = touched
        touched = new Map()
        return keys.updateLastUsed(uses)
      })

      const writeNoted = Effect.suspend(() => {
        if (noted.size === 0) return Effect.void
        const uses = [...noted.values()]
        noted = new Map()
        return Effect.flatMap(DateTime.nowAsDate, (now) => repo.update(uses, now)).pipe(
          // Uses of locked keys were not written. This node forgets them, so that it records the
          // key's next use.
          Effect.tap((written) =>
            Effect.sync(() => {
              for (const use of uses) if (!written.has(toUseName(use))) known.delete(toUseName(use))
            })
          ),
          Effect.onError(() => Effect.sync(() => known.clear()))
        )
      })

      const flush = Effect.suspend(() => {
        used.closeUnsafe()
        return Effect.andThen(writeTouched, writeNoted)
      })

      // Each iteration waits for a use, collects further uses for a second, and writes all of them.
      // If the write fails, the uses are dropped, because a key's next use will be written anyway.
      const turn = used.await.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.andThen(flush))
      yield* Effect.forkScoped(loop("recording uses of API keys", turn))
      const forget = Effect.sync(() => known.clear())
      yield* Effect.forkScoped(
        loop("forgetting recorded uses of API keys", Effect.delay(forget, "1 hour"))
      )
      // A database that hangs must not keep the process from exiting.
      yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(flush, "2 seconds")))

      return KeyUses.of({
        touch: (key, now) => {
          const isFresh =
            key.last_used_at !== null && now.getTime() - key.last_used_at.getTime() < minute
          if (isFresh || touched.has(key.id)) return
          touched.set(key.id, now)
          used.openUnsafe()
        },

        note: (api_key_id, kind, what) => {
          const name = toUseName({ api_key_id, kind, what })
          if (known.has(name) || noted.size >= maxNoted) return
          if (known.size >= maxKnown) known.clear()
          known.add(name)
          noted.set(name, { api_key_id, kind, what })
          used.openUnsafe()
        }
      })
    })
  )
}

const minute = 60_000

/**
 * The maximum number of uses that this node remembers as written. Forgetting a use costs little:
 * the next one is written again.
 */
const maxKnown = 50_000
const maxNoted = 2_000

const toUseName = ({ api_key_id, kind, what }: KeyUse) => `${api_key_id} ${kind} ${what}`
