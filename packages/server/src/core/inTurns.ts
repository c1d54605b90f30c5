import { Effect } from "effect"
import { elapsedMs } from "./elapsed.ts"

/** Then others have their turn. */
const turnMs = 5

/** Does work that pauses often, and lets others go on in between. */
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
