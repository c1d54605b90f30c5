/**
 * Latencies are counted in buckets, each 26 % wider than the one before, from 1 ms to one minute.
 * The counts of two histograms can be added, and percentiles are accurate within an eighth.
 */
const perDoubling = 3

export const latencyBuckets = 48

/** The index of the bucket of a latency, from 0. */
export const latencyBucket = (ms: number): number =>
  Math.min(latencyBuckets - 1, Math.floor(Math.log2(Math.max(1, ms)) * perDoubling))

/** Returns the histogram of a single latency. */
export const countsOfLatency = (ms: number): ReadonlyArray<number> => {
  const counts = Array<number>(latencyBuckets).fill(0)
  counts[latencyBucket(ms)] = 1
  return counts
}

/** Adds two histograms. Null is an empty one. */
export const addLatencies = (
  a: ReadonlyArray<number> | null,
  b: ReadonlyArray<number> | null
): ReadonlyArray<number> | null =>
  a === null ? b : b === null ? a : a.map((count, index) => count + (b[index] ?? 0))

/**
 * Returns the latency that this share of the counted ones does not exceed, as the middle of its
 * bucket.
 */
const percentile = (counts: ReadonlyArray<number>, share: number): number => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * share)
  const index = counts.findIndex((count) => (left -= count) <= 0)
  return Math.round(2 ** ((index + 0.5) / perDoubling))
}

export const percentilesOf = (counts: ReadonlyArray<number> | null) =>
  counts === null
    ? null
    : {
        p50: percentile(counts, 0.5),
        p95: percentile(counts, 0.95),
        p99: percentile(counts, 0.99)
      }
