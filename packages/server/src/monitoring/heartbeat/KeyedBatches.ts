/**
 * Items that wait to be processed in batches. An item waits while a batch with the same key is in
 * progress, because two batches must not make decisions about the same monitor.
 */
export class KeyedBatches<A> {
  readonly #keyOf: (one: A) => string
  readonly #maxBatch: number
  #waiting: Array<A> = []
  readonly #busyKeys = new Set<string>()

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

  /**
   * Takes the oldest items whose keys are free, and reserves their keys until `release` is called.
   */
  take(): ReadonlyArray<A> {
    const batch: Array<A> = []
    const later: Array<A> = []
    for (const one of this.#waiting) {
      if (batch.length < this.#maxBatch && this.#isFree(one)) batch.push(one)
      else later.push(one)
    }
    this.#waiting = later
    for (const one of batch) this.#busyKeys.add(this.#keyOf(one))
    return batch
  }

  release(batch: ReadonlyArray<A>): void {
    for (const one of batch) this.#busyKeys.delete(this.#keyOf(one))
  }

  readonly #isFree = (one: A): boolean => !this.#busyKeys.has(this.#keyOf(one))
}
