/**
 * What waits to be taken in batches. While a batch that was taken is under way, all else with its keys
 * waits: two batches must not decide about the same thing.
 */
export class Gathered<A> {
  readonly #keyOf: (one: A) => string
  readonly #maxBatch: number
  #waiting: Array<A> = []
  readonly #underWay = new Set<string>()

  constructor(keyOf: (one: A) => string, maxBatch: number) {
    this.#keyOf = keyOf
    this.#maxBatch = maxBatch
  }

  add(one: A): void {
    this.#waiting.push(one)
  }

  hasFree(): boolean {
    return this.#waiting.some(this.#isFree)
  }

  /** The oldest that are free. They are under way until they are released. */
  take(): ReadonlyArray<A> {
    const batch: Array<A> = []
    const later: Array<A> = []
    for (const one of this.#waiting) {
      if (batch.length < this.#maxBatch && this.#isFree(one)) batch.push(one)
      else later.push(one)
    }
    this.#waiting = later
    for (const one of batch) this.#underWay.add(this.#keyOf(one))
    return batch
  }

  release(batch: ReadonlyArray<A>): void {
    for (const one of batch) this.#underWay.delete(this.#keyOf(one))
  }

  readonly #isFree = (one: A): boolean => !this.#underWay.has(this.#keyOf(one))
}
