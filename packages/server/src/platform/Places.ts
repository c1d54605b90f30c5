import { Effect } from "effect"

/**
 * Gives out what there is room for where counting each time would take too long. A count is good for a
 * hundredth of what it leaves, and the last hundred are counted one by one. Other nodes do not see the
 * places that are given out: each node can pass the limit by 1 %.
 */
export class Places {
  readonly #limit: number
  /** How many this node may still give out before it counts again. */
  readonly #left = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False: there is no room. `count` need not count beyond the limit. */
  take<E, R>(owner: string, count: Effect.Effect<number, E, R>): Effect.Effect<boolean, E, R> {
    return Effect.suspend(() => {
      const left = this.#left.get(owner) ?? 0
      if (left > 0) {
        this.#left.set(owner, left - 1)
        return Effect.succeed(true)
      }
      return Effect.map(count, (taken) => {
        if (taken >= this.#limit) return false
        if (this.#left.size >= maxRemembered) this.#left.clear()
        this.#left.set(owner, Math.floor((this.#limit - taken) / 100))
        return true
      })
    })
  }
}

const maxRemembered = 10_000
