import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"

export interface HashTurnsOptions {
  /** Hashes that are made at once. */
  readonly atOnce: number
  /** Whether a slot rests after a hash for as long as the hash took. */
  readonly rests: boolean
  readonly maxWaiting: number
}

/**
 * Hashes take at most half of the time of all cores, so that other requests go on: half of the cores
 * at once, or the only one half of the time.
 */
export const turnsOn = (cores: number): HashTurnsOptions => ({
  atOnce: Math.max(1, Math.floor(cores / 2)),
  rests: cores === 1,
  maxWaiting: cores * 32
})

/**
 * Who waits for a password hash. Networks take turns, whatever each of them sends. Where all places
 * are taken, a newcomer gets the last place of the network that holds most, if that holds more than
 * the newcomer's own would.
 */
export class HashTurns {
  #running = 0
  #waiting = 0
  /** In the order of their turns. */
  readonly #queues = new Map<string, Array<Waiter>>()
  readonly #options: HashTurnsOptions

  constructor(options: HashTurnsOptions) {
    this.#options = options
  }

  /** Does the work when it is the network's turn. */
  take<A>(network: string, work: Effect.Effect<A>): Effect.Effect<A, RateLimited> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(this.#turn(network)), () => {
        const startedAt = performance.now()
        return Effect.ensuring(
          restore(work),
          Effect.sync(() => this.#end(startedAt))
        )
      })
    )
  }

  #turn(network: string): Effect.Effect<void, RateLimited> {
    return Effect.callback((resume) => {
      if (this.#running < this.#options.atOnce) {
        this.#running++
        return resume(Effect.void)
      }
      if (!this.hasRoomFor(network)) return resume(turnedAway)
      if (this.#waiting >= this.#options.maxWaiting) this.#turnAwayLastOf(this.#largest())
      const waiter: Waiter = { start: () => resume(Effect.void), leave: () => resume(turnedAway) }
      this.#waiting++
      const queue = this.#queues.get(network)
      if (queue === undefined) this.#queues.set(network, [waiter])
      else queue.push(waiter)
      return Effect.sync(() => this.#remove(network, waiter))
    })
  }

  hasRoomFor(network: string): boolean {
    if (this.#waiting < this.#options.maxWaiting) return true
    return this.#held(this.#largest()) > this.#held(network) + 1
  }

  #held(network: string): number {
    return this.#queues.get(network)?.length ?? 0
  }

  #largest(): string {
    let [largest = ""] = this.#queues.keys()
    for (const network of this.#queues.keys()) {
      if (this.#held(network) > this.#held(largest)) largest = network
    }
    return largest
  }

  #turnAwayLastOf(network: string): void {
    const last = this.#queues.get(network)?.at(-1)
    if (last === undefined) return
    this.#remove(network, last)
    last.leave()
  }

  #remove(network: string, waiter: Waiter): void {
    const queue = this.#queues.get(network)
    const at = queue?.indexOf(waiter) ?? -1
    if (queue === undefined || at === -1) return
    queue.splice(at, 1)
    this.#waiting--
    if (queue.length === 0) this.#queues.delete(network)
  }

  #end(startedAt: number): void {
    const next = () => {
      this.#running--
      this.#startNext()
    }
    if (this.#options.rests) setTimeout(next, performance.now() - startedAt).unref()
    else next()
  }

  #startNext(): void {
    const first = this.#queues.entries().next()
    if (first.done) return
    const [network, queue] = first.value
    const waiter = queue.shift()
    this.#queues.delete(network)
    if (queue.length > 0) this.#queues.set(network, queue)
    if (waiter === undefined) return
    this.#waiting--
    this.#running++
    waiter.start()
  }
}

interface Waiter {
  readonly start: () => void
  readonly leave: () => void
}

const turnedAway = Effect.fail(new RateLimited({ retry_after: 1 }))
