import { Effect, Random } from "effect"
import { backoffMs } from "./backoff.ts"

/**
 * Pauses a loop that the service makes turn without work: not at all the first time, then longer
 * each time. `isWell` starts anew.
 */
export const makePause = Effect.sync(() => {
  let idleTurns = 0
  return Effect.fnUntraced(function* (isWell: boolean) {
    idleTurns = isWell ? 0 : idleTurns + 1
    if (idleTurns > 1) yield* Effect.sleep(backoffMs(idleTurns - 1, yield* Random.next))
  })
})
