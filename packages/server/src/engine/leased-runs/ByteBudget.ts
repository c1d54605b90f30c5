import { Effect } from "effect"

/** A share (see `CallSlots.ts`) may hold this many times as much memory as is free. */
const threshold = 4

interface Waiting {
  readonly bytes: number
  readonly grant: () => void
}

/**
 * The memory budget for the calls of a node. Shares divide it as they divide call slots: a share
 * that is alone gets four fifths, and a new share always finds room. Waiting shares take turns. A
 * share that holds no memory is never overtaken by a share with a smaller request.
 */
export class ByteBudget {
  readonly #total: number
  #taken = 0
  readonly #held = new Map<number, number>()
  readonly #waiting = new Map<number, Array<Waiting>>()

  constructor(total: number) {
    this.#total = total
  }

  get taken(): number {
    return this.#taken
  }

  /** Shares with calls that wait for memory. */
  get waiting(): Iterable<number> {
    return this.#waiting.keys()
  }

  /** Creates the reservation of one call, which holds no memory yet. */
  open(share: number): ByteReservation {
    return new ByteReservation(this, share)
  }

  /**
   * Calls `grant` as soon as there is room, possibly before it returns. Returns a function that
   * withdraws the request.
   */
  ask(share: number, bytes: number, grant: () => void): () => void {
    const wish: Waiting = { bytes: this.capped(bytes), grant }
    const queue = this.#waiting.get(share)
    if (queue === undefined) this.#waiting.set(share, [wish])
    else queue.push(wish)
    this.#serve()
    return () => {
      const queue = this.#waiting.get(share)
      const at = queue?.indexOf(wish) ?? -1
      if (queue === undefined || at === -1) return
      queue.splice(at, 1)
      if (queue.length === 0) this.#waiting.delete(share)
      this.#serve()
    }
  }

  give(share: number, bytes: number): void {
    this.#hold(share, -bytes)
    this.#serve()
  }

  /** Returns the size of a request, at most the whole budget. */
  capped(bytes: number): number {
    return Math.min(bytes, this.#total)
  }

  #serve(): void {
    for (let served = true; served;) {
      served = false
      // Granting a request may run code that returns memory and requests more, so each turn reads
      // the queues again.
      for (const share of Array.from(this.#waiting.keys())) {
        const queue = this.#waiting.get(share)
        const next = queue?.[0]
        if (queue === undefined || next === undefined) continue
        if (!this.#fits(share, next.bytes)) {
          if (this.#held.has(share)) continue
          return
        }
        queue.shift()
        // A share that was served goes to the end of the line.
        this.#waiting.delete(share)
        if (queue.length > 0) this.#waiting.set(share, queue)
        this.#hold(share, next.bytes)
        next.grant()
        served = true
      }
    }
  }

  #fits(share: number, bytes: number): boolean {
    const held = this.#held.get(share)
    const free = this.#total - this.#taken - bytes
    return free >= 0 && (held === undefined || held + bytes <= threshold * free)
  }

  #hold(share: number, change: number): void {
    const held = (this.#held.get(share) ?? 0) + change
    if (held === 0) this.#held.delete(share)
    else this.#held.set(share, held)
    this.#taken += change
  }
}

/** The part of the budget that one call holds. */
export class ByteReservation {
  readonly #budget: ByteBudget
  readonly #share: number
  #bytes = 0

  constructor(budget: ByteBudget, share: number) {
    this.#budget = budget
    this.#share = share
  }

  /**
   * Waits until the budget has room. The caller must hold no memory, or two calls could deadlock.
   */
  take(bytes: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const recover = this.#budget.ask(this.#share, bytes, () => {
        this.#bytes = this.#budget.capped(bytes)
        resume(Effect.void)
      })
      return Effect.sync(recover)
    })
  }

  /** Keeps at most this many bytes and returns the rest to the budget. */
  shrink(bytes: number): void {
    const surplus = this.#bytes - bytes
    if (surplus <= 0) return
    this.#bytes = bytes
    this.#budget.give(this.#share, surplus)
  }
}
