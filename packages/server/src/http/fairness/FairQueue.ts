import { Effect } from "effect"
import { RoundRobinQueue } from "./RoundRobinQueue.ts"

export interface FairQueueOptions<Refusal> {
  /** The maximum number of effects that run at the same time. */
  readonly atOnce: number
  /**
   * The maximum number of waiting effects, and the failure of further effects. If absent, the
   * number is unlimited.
   */
  readonly bound?: {
    readonly maxWaiting: number
    readonly refusal: Effect.Effect<never, Refusal>
  }
  /** Delays the next effect by calling `next` later. By default it starts immediately. */
  readonly pause?: (next: () => void, tookMs: number) => void
}

/** Lets the event loop handle everything else before the next effect starts. */
export const yieldToEventLoop = (next: () => void) => void setImmediate(next)

/** Pauses before the next effect for as long as the last one took. */
export const pauseForSameDuration = (next: () => void, tookMs: number) => {
  setTimeout(next, tookMs).unref()
}

/**
 * Limits how many effects run at the same time. Keys take turns, so that a key with a thousand
 * waiting effects delays another key by only one effect. If the queue is full, a new effect may
 * replace the last effect of the key with the most waiting effects, provided that the key of the
 * new effect has fewer waiting effects.
 */
export class FairQueue<Key, Refusal = never> {
  #running = 0
  readonly #waiting = new RoundRobinQueue<Key, Waiter>()
  readonly #options: FairQueueOptions<Refusal>

  constructor(options: FairQueueOptions<Refusal>) {
    this.#options = options
  }

  /** Runs the effect when it is the key's turn. */
  run<A, E, R>(key: Key, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Refusal, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(this.#turn(key)), () => {
        const startedAt = performance.now()
        return Effect.ensuring(
          restore(work),
          Effect.sync(() => this.#end(startedAt))
        )
      })
    )
  }

  hasRoomFor(key: Key): boolean {
    const { bound } = this.#options
    if (bound === undefined || this.#waiting.size < bound.maxWaiting) return true
    const largest = this.#waiting.largest()
    return largest !== undefined && largest.items.length > this.#waiting.heldBy(key) + 1
  }

  #turn(key: Key): Effect.Effect<void, Refusal> {
    return Effect.callback((resume) => {
      const { atOnce, bound } = this.#options
      if (this.#running < atOnce) {
        this.#running++
        return resume(Effect.void)
      }
      if (bound !== undefined && this.#waiting.size >= bound.maxWaiting) {
        if (!this.hasRoomFor(key)) return resume(bound.refusal)
        this.#refuseLastOfLargest()
      }
      const waiter: Waiter = {
        start: () => resume(Effect.void),
        refuse: () => resume(bound?.refusal ?? Effect.void)
      }
      this.#waiting.add(key, waiter)
      return Effect.sync(() => this.#waiting.remove(key, waiter))
    })
  }

  #refuseLastOfLargest(): void {
    const largest = this.#waiting.largest()
    const last = largest?.items.at(-1)
    if (largest === undefined || last === undefined) return
    this.#waiting.remove(largest.key, last)
    last.refuse()
  }

  #end(startedAt: number): void {
    const next = () => {
      this.#running--
      this.#startNext()
    }
    const { pause } = this.#options
    if (pause === undefined) next()
    else pause(next, performance.now() - startedAt)
  }

  #startNext(): void {
    const waiter = this.#waiting.next()
    if (waiter === undefined) return
    this.#running++
    waiter.start()
  }
}

interface Waiter {
  readonly start: () => void
  readonly refuse: () => void
}
