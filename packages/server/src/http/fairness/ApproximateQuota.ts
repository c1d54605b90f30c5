import { Effect } from "effect"

/**
 * Enforces a limit on a number that takes too long to count each time. After a count, a hundredth
 * of the free permits is granted without counting again. The last hundred permits are counted one
 * by one. A node does not see the permits of other nodes, so each node can exceed the limit by 1%.
 */
export class ApproximateQuota {
  /** The number of permits that this node may still grant to each owner before it counts again. */
  readonly #left = new Map<string, number>()

  /**
   * Returns undefined if the owner has not been counted yet, and false if a new count is needed.
   */
  takeKnown(owner: string, more = 1): boolean | undefined {
    const left = this.#left.get(owner)
    if (left === undefined) return undefined
    if (left < more) return false
    this.#left.set(owner, left - more)
    return true
  }

  /** Returns false if no permit is left. */
  take<E, R>(
    owner: string,
    countFree: Effect.Effect<number, E, R>,
    more = 1
  ): Effect.Effect<boolean, E, R> {
    return Effect.suspend(() => {
      if (this.takeKnown(owner, more) === true) return Effect.succeed(true)
      return Effect.map(countFree, (free) => {
        if (free < more) return false
        if (this.#left.size >= maxRemembered) this.#left.clear()
        this.#left.set(owner, Math.floor((free - more + 1) / 100))
        return true
      })
    })
  }
}

const maxRemembered = 10_000
