import { Effect } from "effect"
import { elapsedMs } from "./elapsed.ts"

/** After this time other work runs. */
const turnMs = 5

/** Runs long work in slices and lets other work run in between. */
export const inTurns = <A>(steps: Generator<void, A>): Effect.Effect<A> =>
  Effect.clockWith((clock) => {
    const turn: Effect.Effect<A> = Effect.suspend(() => {
      const endsAtMs = elapsedMs(clock) + turnMs
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return Effect.succeed(value)
        if (elapsedMs(clock) >= endsAtMs) return Effect.andThen(Effect.yieldNow, turn)
      }
    })
    return turn
  })
