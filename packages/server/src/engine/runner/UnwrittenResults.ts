import { Waker } from "../../core/index.ts"
import type { Settlement } from "../Run.ts"

/**
 * The results that a node has yet to write, in the order in which its calls finished. Calls add
 * results, and the settler removes them.
 */
export class UnwrittenResults {
  /**
   * Wakes the settler when a result was added. The settler may already have written that result.
   */
  readonly waker = new Waker()
  #waiting: Array<Settlement> = []

  add(settlement: Settlement): void {
    this.#waiting.push(settlement)
    this.waker.wake()
  }

  get count(): number {
    return this.#waiting.length
  }

  some(holds: (settlement: Settlement) => boolean): boolean {
    return this.#waiting.some(holds)
  }

  /**
   * Returns the first results. They stay here until they are removed, because writing them may
   * fail.
   */
  first(limit: number): ReadonlyArray<Settlement> {
    return this.#waiting.slice(0, limit)
  }

  remove(written: ReadonlySet<Settlement>): void {
    this.#waiting = this.#waiting.filter((one) => !written.has(one))
  }

  /**
   * Forgets all results, because the node has lost its leases and may not write the results any
   * more.
   */
  clear(): void {
    this.#waiting = []
  }
}
