import { Effect } from "effect"

/**
 * Lets work through that keeps the process busy for milliseconds: so much of it at once, whoever asks
 * takes turns, and the event loop looks at everything else before the next goes on. A hundred bodies
 * of 250 kB that come together are otherwise read in one go, which nobody else gets a word into.
 */
export class FairGate<Key> {
  #free: number
  /** In the order of their turns. */
  readonly #queues = new Map<Key, Array<() => void>>()

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Does the work when it is the turn of whoever asks. */
  pass<A, E, R>(key: Key, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(this.#turn(key)), () =>
        Effect.ensuring(
          restore(work),
          Effect.sync(() => setImmediate(() => this.#leave()))
        )
      )
    )
  }

  #turn(key: Key): Effect.Effect<void> {
    return Effect.callback((resume) => {
      if (this.#free > 0) {
        this.#free--
        return resume(Effect.void)
      }
      const start = () => resume(Effect.void)
      const queue = this.#queues.get(key)
      if (queue === undefined) this.#queues.set(key, [start])
      else queue.push(start)
      return Effect.sync(() => this.#remove(key, start))
    })
  }

  #leave(): void {
    const first = this.#queues.entries().next()
    if (first.done) {
      this.#free++
      return
    }
    const [key, queue] = first.value
    const [start] = queue
    if (start === undefined) return
    this.#remove(key, start)
    // Whoever was served goes to the end.
    if (this.#queues.delete(key)) this.#queues.set(key, queue)
    start()
  }

  #remove(key: Key, start: () => void): void {
    const queue = this.#queues.get(key)
    const at = queue?.indexOf(start) ?? -1
    if (queue === undefined || at === -1) return
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(key)
  }
}
