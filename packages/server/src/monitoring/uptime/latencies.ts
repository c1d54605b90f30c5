/**
 * The number of histogram buckets per doubling of the latency. Buckets range from 1 ms to one
 * minute, and each is 26 % wider than the bucket before it, so that percentiles are accurate within
 * an eighth. The counts of two histograms can be added.
 */
const perDoubling = 3

export const latencyBucketCount = 48

/** Returns the index of a latency's bucket, from 0. */
export const latencyBucketIndex = (ms: number): number =>
  Math.min(latencyBucketCount - 1, Math.floor(Math.log2(Math.max(1, ms)) * perDoubling))

/** Returns the histogram of one latency. */
export const histogramOfLatency = (ms: number): ReadonlyArray<number> => {
  const counts = Array<number>(latencyBucketCount).fill(0)
  counts[latencyBucketIndex(ms)] = 1
  return counts
}

/** Adds two histograms. Null stands for an empty histogram. */
export const addLatencyHistograms = (
  a: ReadonlyArray<number> | null,
  b: ReadonlyArray<number> | null
): ReadonlyArray<number> | null =>
  a === null ? b : b === null ? a : a.map((count, index) => count + (b[index] ?? 0))

/**
 * Returns a percentile of the latencies: the middle of the bucket that contains it. `share` is the
 * fraction of all latencies that lie below it.
 */
const percentile = (counts: ReadonlyArray<number>, share: number): number => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * share)
  const index = counts.findIndex((count) => (left -= count) <= 0)
  return Math.round(2 ** ((index + 0.5) / perDoubling))
}

export const latencyPercentilesOf = (counts: ReadonlyArray<number> | null) =>
  counts === null
    ? null
    : {
        p50: percentile(counts, 0.5),
        p95: percentile(counts, 0.95),
        p99: percentile(counts, 0.99)
      }
