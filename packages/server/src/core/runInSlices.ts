import { Effect } from "effect"
import { elapsedMs } from "./elapsedMs.ts"

const sliceMs = 5

/** Runs long work in slices of 5 ms, so that other work runs in between. */
export const runInSlices = <A>(steps: Generator<void, A>): Effect.Effect<A> =>
  Effect.clockWith((clock) => {
    const turn: Effect.Effect<A> = Effect.suspend(() => {
      const endsAtMs = elapsedMs(clock) + sliceMs
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return Effect.succeed(value)
        if (elapsedMs(clock) >= endsAtMs) return Effect.andThen(Effect.yieldNow, turn)
      }
    })
    return turn
  })
