import { Effect, Exit, Random } from "effect"
import { backoffMs } from "./backoff.ts"
import { reasonOf, refusalIn } from "./refusals.ts"

/** How the agent goes on while the service is away. */
export const makePersistence = () => {
  let trouble: string | null = null

  /** Tries until the service answers, and says once what is wrong and once that it is over. */
  const persistently = Effect.fnUntraced(function* <A, E>(
    what: string,
    request: Effect.Effect<A, E>
  ) {
    for (let failures = 1; ; failures++) {
      const exit = yield* Effect.exit(request)
      if (Exit.isSuccess(exit)) {
        if (failures > 1) yield* Effect.logInfo(`${what}: the service answers again`)
        trouble = null
        return exit.value
      }
      const refusal = refusalIn(exit)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      trouble = reasonOf(exit)
      if (failures === 1) yield* Effect.logWarning(`${what}: ${trouble}; trying again`)
      yield* Effect.sleep(backoffMs(failures, yield* Random.next))
    }
  })

  return { persistently, trouble: () => trouble }
}
