import { Effect } from "effect"

/** As with call slots: a workspace may hold this many times as much as is still free. */
const share = 4

interface Waiting {
  readonly bytes: number
  readonly grant: () => void
}

/**
 * What the calls of a node may take of its memory. Workspaces share it as they share the slots: one
 * alone gets four fifths, and a newcomer finds room. Those that wait take turns, and whoever holds
 * nothing is not passed over by what is smaller.
 */
export class ByteBudget {
  readonly #total: number
  #taken = 0
  readonly #held = new Map<string, number>()
  readonly #waiting = new Map<string, Array<Waiting>>()

  constructor(total: number) {
    this.#total = total
  }

  get taken(): number {
    return this.#taken
  }

  /** Workspaces with calls that wait for room. */
  get waiting(): Iterable<string> {
    return this.#waiting.keys()
  }

  /** For one call. */
  open(workspace: string): Allowance {
    return new Allowance(this, workspace)
  }

  /** Calls `grant` as soon as there is room, at once or later. What it answers takes the wish back. */
  ask(workspace: string, bytes: number, grant: () => void): () => void {
    const wish: Waiting = { bytes: this.capped(bytes), grant }
    const queue = this.#waiting.get(workspace)
    if (queue === undefined) this.#waiting.set(workspace, [wish])
    else queue.push(wish)
    this.#serve()
    return () => {
      const queue = this.#waiting.get(workspace)
      const at = queue?.indexOf(wish) ?? -1
      if (queue === undefined || at === -1) return
      queue.splice(at, 1)
      if (queue.length === 0) this.#waiting.delete(workspace)
      this.#serve()
    }
  }

  give(workspace: string, bytes: number): void {
    this.#hold(workspace, -bytes)
    this.#serve()
  }

  /** What would never fit gets all there is. */
  capped(bytes: number): number {
    return Math.min(bytes, this.#total)
  }

  #serve(): void {
    for (let served = true; served;) {
      served = false
      // A grant may run what gives back and asks again: each turn looks at the queues as they are.
      for (const workspace of Array.from(this.#waiting.keys())) {
        const queue = this.#waiting.get(workspace)
        const next = queue?.[0]
        if (queue === undefined || next === undefined) continue
        if (!this.#fits(workspace, next.bytes)) {
          if (this.#held.has(workspace)) continue
          return
        }
        queue.shift()
        // Those who were served go to the end, also for the next time.
        this.#waiting.delete(workspace)
        if (queue.length > 0) this.#waiting.set(workspace, queue)
        this.#hold(workspace, next.bytes)
        next.grant()
        served = true
      }
    }
  }

  #fits(workspace: string, bytes: number): boolean {
    const held = this.#held.get(workspace)
    const free = this.#total - this.#taken - bytes
    return free >= 0 && (held === undefined || held + bytes <= share * free)
  }

  #hold(workspace: string, change: number): void {
    const held = (this.#held.get(workspace) ?? 0) + change
    if (held === 0) this.#held.delete(workspace)
    else this.#held.set(workspace, held)
    this.#taken += change
  }
}

/** What one call holds of the budget. */
export class Allowance {
  readonly #budget: ByteBudget
  readonly #workspace: string
  #bytes = 0

  constructor(budget: ByteBudget, workspace: string) {
    this.#budget = budget
    this.#workspace = workspace
  }

  /** Waits until there is room. Only for one that holds nothing: else two could wait for each other. */
  take(bytes: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const takeBack = this.#budget.ask(this.#workspace, bytes, () => {
        this.#bytes = this.#budget.capped(bytes)
        resume(Effect.void)
      })
      return Effect.sync(takeBack)
    })
  }

  /** Keeps no more than so much. */
  shrink(bytes: number): void {
    const surplus = this.#bytes - bytes
    if (surplus <= 0) return
    this.#bytes = bytes
    this.#budget.give(this.#workspace, surplus)
  }
}
