import { Effect, Random } from "effect"
import { backoffMs } from "./backoff.ts"

/**
 * Pauses a loop after turns that did nothing: not at all the first time, then longer each time.
 * After a turn with `hasWorked` there is no pause.
 */
export const makePause = Effect.sync(() => {
  let idleTurns = 0
  return Effect.fnUntraced(function* (hasWorked: boolean) {
    idleTurns = hasWorked ? 0 : idleTurns + 1
    if (idleTurns > 1) yield* Effect.sleep(backoffMs(idleTurns - 1, yield* Random.next))
  })
})
