import { Effect, Fiber } from "effect"
import { briefly, type Doorbell, loop, mayBeStuck } from "../../core/index.ts"

/** What nobody rings for is found after this time: what other nodes did, and what comes due. */
export const pollMs = 1_000

interface Due<One> {
  readonly loopName: string
  readonly nameOf: (one: One) => string
  /** Rings when something may be due. It also rings whenever something has been sent. */
  readonly bell: Doorbell
  /** Takes what is due, as far as there is room beside what is under way. */
  readonly claim: (underWay: ReadonlyArray<One>) => Effect.Effect<ReadonlyArray<One>>
  readonly send: (one: One) => Effect.Effect<void>
  /** How long until something is due, as far as is known now. */
  readonly idleMs: Effect.Effect<number>
}

/**
 * Sends in the background, whenever there is room and something is due. Stopping lets what is under
 * way end, for as long as it may take. Returns how much that is.
 */
export const sendWhatIsDue = Effect.fnUntraced(function* <One>(due: Due<One>) {
  const { bell, claim, idleMs, loopName, nameOf, send } = due
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const underWay = new Map<Fiber.Fiber<void>, One>()
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => Fiber.awaitAll([...underWay.keys()])).pipe(
      Effect.timeout("15 seconds"),
      Effect.ignore
    )
  )

  const sendSome = Effect.gen(function* () {
    const claimed = yield* claim([...underWay.values()])
    for (const one of claimed) {
      const fiber = runFork(
        Effect.catchCause(send(one), (cause) =>
          Effect.logWarning(`${nameOf(one)} is tried again: ${briefly(cause)}`)
        )
      )
      underWay.set(fiber, one)
      fiber.addObserver(() => {
        underWay.delete(fiber)
        bell.ring()
      })
    }
    if (claimed.length > 0) return
    const ms = yield* idleMs
    // What is due and was not claimed is another node's, or of a share that has enough.
    yield* bell.wait(ms <= 0 ? pollMs / 5 : Math.min(ms, pollMs))
  })
  yield* Effect.forkScoped(loop(loopName, sendSome, mayBeStuck))
  return () => underWay.size
})

/** The keys that at least so many of these have. */
export const keysOfMany = <One, Key>(
  ones: ReadonlyArray<One>,
  count: number,
  keyOf: (one: One) => Key
): ReadonlyArray<Key> =>
  [...Map.groupBy(ones, keyOf)].flatMap(([key, own]) => (own.length >= count ? [key] : []))
