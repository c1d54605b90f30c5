/**
 * The maximum width of a bucket relative to its values. With 4 %, a value is off by at most 2 %.
 */
const widest = 0.04

/** The longest time in the histogram: one year. A longer time counts as one year. */
const longestMs = 365 * 86_400_000

/**
 * The lower bounds of the buckets in milliseconds: one for each value up to 50, then wider ones.
 * Stored statistics depend on them, so a change needs a migration.
 */
export const histogramBounds: ReadonlyArray<number> = (() => {
  const lower = [0]
  for (let bound = 0; bound < longestMs;) {
    bound = Math.max(bound + 1, Math.floor(bound * (1 + widest)))
    lower.push(bound)
  }
  return lower
})()

/** Counts the values in each bucket. Buckets are numbered from 1, as by `width_bucket`. */
export class StatisticsHistogram {
  readonly #counts = new Float64Array(histogramBounds.length + 1)
  #total = 0

  add(buckets: ReadonlyArray<number>, counts: ReadonlyArray<number>): void {
    for (const [index, bucket] of buckets.entries()) {
      const count = counts[index] ?? 0
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count
      this.#total += count
    }
  }

  get percentiles(): { readonly p50: number; readonly p95: number; readonly p99: number } | null {
    return this.#total === 0
      ? null
      : { p50: this.#percentile(50), p95: this.#percentile(95), p99: this.#percentile(99) }
  }

  /**
   * Returns the smallest value that this percentage of the values does not exceed, with the
   * accuracy of its bucket.
   */
  #percentile(percent: number): number {
    let remaining = Math.ceil((this.#total * percent) / 100)
    const bucket = this.#counts.findIndex((count) => (remaining -= count) <= 0)
    return middleOf(bucket)
  }
}

const middleOf = (bucket: number): number => {
  const lowest = histogramBounds[bucket - 1] ?? 0
  const highest = (histogramBounds[bucket] ?? lowest + 1) - 1
  return Math.round((lowest + highest) / 2)
}
