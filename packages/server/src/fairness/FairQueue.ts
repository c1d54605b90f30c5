import { Effect } from "effect"

export interface FairQueueOptions<Refusal> {
  /** How many pieces of work run at once. */
  readonly atOnce: number
  /** How many may wait, and the failure that the rest get. Without it there is no limit. */
  readonly bound?: {
    readonly maxWaiting: number
    readonly refusal: Effect.Effect<never, Refusal>
  }
  /** Delays the next work by calling `next` later. By default it starts at once. */
  readonly pause?: (next: () => void, tookMs: number) => void
}

/** The event loop looks at everything else before the next work starts. */
export const afterEverythingElse = (next: () => void) => void setImmediate(next)

/** The next work starts after a rest that is as long as the work was. */
export const afterARest = (next: () => void, tookMs: number) => {
  setTimeout(next, tookMs).unref()
}

/**
 * Runs a limited number of works at once. Keys take turns, so that one key with a thousand waiting
 * delays another key by one turn. If the queue is full, a newcomer takes the last place of the key
 * that holds most, provided that key holds more than the newcomer's key would.
 */
export class FairQueue<Key, Refusal = never> {
  #running = 0
  #waiting = 0
  /** In the order of their turns. */
  readonly #queues = new Map<Key, Array<Waiter>>()
  readonly #options: FairQueueOptions<Refusal>

  constructor(options: FairQueueOptions<Refusal>) {
    this.#options = options
  }

  /** Does the work when it is the key's turn. */
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
    if (bound === undefined || this.#waiting < bound.maxWaiting) return true
    const largest = this.#largest()
    return largest !== undefined && largest.queue.length > this.#held(key) + 1
  }

  #turn(key: Key): Effect.Effect<void, Refusal> {
    return Effect.callback((resume) => {
      const { atOnce, bound } = this.#options
      if (this.#running < atOnce) {
        this.#running++
        return resume(Effect.void)
      }
      if (bound !== undefined && this.#waiting >= bound.maxWaiting) {
        if (!this.hasRoomFor(key)) return resume(bound.refusal)
        this.#refuseLastOf(this.#largest())
      }
      const waiter: Waiter = {
        start: () => resume(Effect.void),
        refuse: () => resume(bound?.refusal ?? Effect.void)
      }
      this.#waiting++
      const queue = this.#queues.get(key)
      if (queue === undefined) this.#queues.set(key, [waiter])
      else queue.push(waiter)
      return Effect.sync(() => this.#remove(key, waiter))
    })
  }

  #held(key: Key): number {
    return this.#queues.get(key)?.length ?? 0
  }

  #largest(): KeyQueue<Key> | undefined {
    let largest: KeyQueue<Key> | undefined
    for (const [key, queue] of this.#queues) {
      if (largest === undefined || queue.length > largest.queue.length) largest = { key, queue }
    }
    return largest
  }

  #refuseLastOf(held: KeyQueue<Key> | undefined): void {
    const last = held?.queue.at(-1)
    if (held === undefined || last === undefined) return
    this.#remove(held.key, last)
    last.refuse()
  }

  #remove(key: Key, waiter: Waiter): void {
    const queue = this.#queues.get(key)
    const at = queue?.indexOf(waiter) ?? -1
    if (queue === undefined || at === -1) return
    queue.splice(at, 1)
    this.#waiting--
    if (queue.length === 0) this.#queues.delete(key)
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
    const [first] = this.#queues
    if (first === undefined) return
    const [key, queue] = first
    const waiter = queue.shift()
    // The key was served and goes to the end.
    this.#queues.delete(key)
    if (queue.length > 0) this.#queues.set(key, queue)
    if (waiter === undefined) return
    this.#waiting--
    this.#running++
    waiter.start()
  }
}

interface Waiter {
  readonly start: () => void
  readonly refuse: () => void
}

interface KeyQueue<Key> {
  readonly key: Key
  readonly queue: ReadonlyArray<Waiter>
}
