import { Cause, Effect } from "effect"

const pauseAfterFailureMs = 300

/**
 * Repeats `body` until interrupted. A failure, a lost database above all, is logged when it begins
 * and when it is over, not at each of a thousand tries in between.
 */
export const loop = <E, R>(
  name: string,
  body: Effect.Effect<void, E, R>
): Effect.Effect<never, never, R> => {
  let failing = false
  return body.pipe(
    Effect.andThen(
      Effect.suspend(() => {
        if (!failing) return Effect.void
        failing = false
        return Effect.logInfo(`${name}: works again`)
      })
    ),
    Effect.catchCause((cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
      const first = !failing
      failing = true
      return (
        first ? Effect.logWarning(`${name}: ${briefly(cause)}; trying again`) : Effect.void
      ).pipe(Effect.andThen(Effect.sleep(pauseAfterFailureMs)))
    }),
    Effect.forever
  )
}

/** Not the whole cause: what PostgreSQL says in detail holds the values of rows. */
export const briefly = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** Wakes the one loop that waits. A ring while nobody waits is not lost. */
export class Doorbell {
  #rung = false
  #waiting: (() => void) | undefined

  ring(): void {
    if (this.#waiting === undefined) this.#rung = true
    else this.#waiting()
  }

  wait(atMostMs: number): Effect.Effect<void> {
    return Effect.raceFirst(this.#rings, Effect.sleep(Math.max(0, atMostMs)))
  }

  readonly #rings = Effect.callback<void>((resume) => {
    if (this.#rung) {
      this.#rung = false
      resume(Effect.void)
      return
    }
    this.#waiting = () => {
      this.#waiting = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      this.#waiting = undefined
    })
  })
}
