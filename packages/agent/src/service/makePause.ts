import { Effect, Random } from "effect"
import { backoffMs } from "./backoff.ts"

/**
 * Pauses a loop that turns without having done anything: not at all the first time, then longer each
 * time. The pause after a turn with `hasWorked` is none.
 */
export const makePause = Effect.sync(() => {
  let idleTurns = 0
  return Effect.fnUntraced(function* (hasWorked: boolean) {
    idleTurns = hasWorked ? 0 : idleTurns + 1
    if (idleTurns > 1) yield* Effect.sleep(backoffMs(idleTurns - 1, yield* Random.next))
  })
})
