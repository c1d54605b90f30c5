import { Effect, Random } from "effect"
import { backoffMs } from "./backoff.ts"

/**
 * Creates a pause for a loop. The first idle turn has no pause, and each further idle turn a longer
 * one. A turn with `hasWorked` resets the pause.
 */
export const makePause = Effect.sync(() => {
  let idleTurns = 0
  return Effect.fnUntraced(function* (hasWorked: boolean) {
    idleTurns = hasWorked ? 0 : idleTurns + 1
    if (idleTurns > 1) yield* Effect.sleep(backoffMs(idleTurns - 1, yield* Random.next))
  })
})
