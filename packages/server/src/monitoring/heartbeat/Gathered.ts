/**
 * Items that wait to be taken in batches. Items with the key of a batch in progress wait for its end,
 * because two batches must not decide about the same thing.
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

  /** Takes the oldest items whose keys are free, and holds their keys until they are released. */
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
