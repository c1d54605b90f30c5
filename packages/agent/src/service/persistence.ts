import { Clock, DateTime, Effect, Exit, Random } from "effect"
import { backoffMs } from "./backoff.ts"
import { reasonOf, refusalIn } from "../refusals.ts"
import type { Trouble } from "../status/status.ts"

/** A trouble that lasts is said again after this time. */
const sayEveryMs = 60_000

/** How the agent goes on while the service is away. `failed` runs after each failure. */
export const makePersistence = (failed: Effect.Effect<void>) => {
  /** Of what is tried again now, the oldest first. */
  const troubles = new Map<string, Trouble>()

  const repeat = Effect.fnUntraced(function* <A, E>(what: string, request: Effect.Effect<A, E>) {
    let said = { reason: "", atMs: -Infinity }
    for (let failures = 1; ; failures++) {
      const exit = yield* Effect.exit(request)
      if (Exit.isSuccess(exit)) {
        if (failures > 1) yield* Effect.logInfo(`${what}: the service answers again`)
        return exit.value
      }
      const refusal = refusalIn(exit)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      const reason = reasonOf(exit)
      const { since } = troubles.get(what) ?? { since: DateTime.formatIso(yield* DateTime.now) }
      troubles.set(what, { since, reason })
      const nowMs = yield* Clock.currentTimeMillis
      if (reason !== said.reason || nowMs - said.atMs >= sayEveryMs) {
        const still = reason === said.reason ? ` since ${since}` : ""
        yield* Effect.logWarning(`${what}: ${reason}${still}; trying again`)
        said = { reason, atMs: nowMs }
      }
      yield* failed
      yield* Effect.sleep(backoffMs(failures, yield* Random.next))
    }
  })

  /**
   * Tries until the service answers. Says what is wrong at once, when that changes and every minute,
   * and once that it is over.
   */
  const persistently = <A, E>(what: string, request: Effect.Effect<A, E>) =>
    Effect.ensuring(
      repeat(what, request),
      Effect.sync(() => troubles.delete(what))
    )

  return { persistently, trouble: (): Trouble | null => [...troubles.values()][0] ?? null }
}
