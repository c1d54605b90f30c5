import { Effect, Random } from "effect"
import { backoffMs } from "./backoff.ts"

/**
 * Creates a pause that increases while a loop has nothing to do. There is no pause after the first
 * idle iteration, and a longer one after each further idle iteration. An iteration with `hasWorked`
 * resets the pause.
 */
export const makeIdlePause = Effect.sync(() => {
  let idleTurns = 0
  return Effect.fnUntraced(function* (hasWorked: boolean) {
    idleTurns = hasWorked ? 0 : idleTurns + 1
    if (idleTurns > 1) yield* Effect.sleep(backoffMs(idleTurns - 1, yield* Random.next))
  })
})
