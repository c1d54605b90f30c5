import { Clock, Effect, Fiber, type Scope } from "effect"
import { TimeoutQueue } from "./TimeoutQueue.ts"

/**
 * Notifies calls when they time out. Calls with the same timeout expire in the order in which they
 * began, so one fiber per timeout is enough.
 */
export class Timeouts {
  private readonly byTimeout = new Map<number, TimeoutQueue>()
  private readonly clock: Clock.Clock
  private readonly fork: (watch: Effect.Effect<void>) => void

  private constructor(clock: Clock.Clock, fork: (watch: Effect.Effect<void>) => void) {
    this.clock = clock
    this.fork = fork
  }

  static readonly make: Effect.Effect<Timeouts, never, Scope.Scope> = Effect.gen(function* () {
    const runFork = Effect.runForkWith(yield* Effect.context())
    const fibers = new Set<Fiber.Fiber<void>>()
    yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers))
    return new Timeouts(yield* Clock.Clock, (watch) => {
      const fiber = runFork(watch)
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
    })
  })

  /** Starts a timeout. Returns a function that cancels it. */
  readonly after = (millis: number, onTimeout: () => void): (() => void) => {
    const endsAtMs = this.nowMs() + millis
    const known = this.byTimeout.get(millis)
    if (known !== undefined) return known.add(endsAtMs, onTimeout)
    const calls = new TimeoutQueue()
    const cancel = calls.add(endsAtMs, onTimeout)
    this.byTimeout.set(millis, calls)
    this.fork(this.watch(millis, calls))
    return cancel
  }

  private watch(millis: number, calls: TimeoutQueue): Effect.Effect<void> {
    return Effect.whileLoop({
      while: () => {
        const isNeeded = calls.nextEndsAtMs !== undefined
        if (!isNeeded) this.byTimeout.delete(millis)
        return isNeeded
      },
      body: () => {
        const leftMs = (calls.nextEndsAtMs ?? 0) - this.nowMs()
        return Effect.sleep(Math.max(0, Math.ceil(leftMs)))
      },
      step: () => {
        const now = this.nowMs()
        while ((calls.nextEndsAtMs ?? Infinity) <= now) calls.takeNext()?.()
      }
    }).pipe(
      // If one notification throws, the other calls must still time out.
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("a call could not be notified of its timeout", defect),
          this.watch(millis, calls)
        )
      )
    )
  }

  private nowMs(): number {
    return Number(this.clock.monotonicTimeNanosUnsafe()) / 1e6
  }
}
