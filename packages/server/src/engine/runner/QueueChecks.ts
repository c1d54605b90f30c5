import { Waker } from "../../core/index.ts"

/** The named queues to check for runs that can be admitted, and when to check them. */
export class QueueChecks {
  readonly waker = new Waker()
  readonly #at = new Map<string, number>()

  /** Schedules a check of the queues for this time. */
  checkAt(queueIds: Iterable<string>, atMs: number): void {
    let isSooner = false
    for (const id of queueIds) {
      const before = this.#at.get(id)
      if (before !== undefined && before <= atMs) continue
      this.#at.set(id, atMs)
      isSooner = true
    }
    if (isSooner) this.waker.wake()
  }

  /** Removes and returns the queues whose check is due, in the order in which they were added. */
  take(nowMs: number, limit: number): ReadonlyArray<string> {
    const taken: Array<string> = []
    for (const [id, atMs] of this.#at) {
      if (taken.length >= limit) break
      if (atMs <= nowMs) taken.push(id)
    }
    for (const id of taken) this.#at.delete(id)
    return taken
  }

  get nextMs(): number | undefined {
    let next: number | undefined
    for (const atMs of this.#at.values()) if (next === undefined || atMs < next) next = atMs
    return next
  }
}
