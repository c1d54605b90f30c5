const firstMs = 1_000
const longestMs = 3_600_000

export interface RetryState {
  /** How many attempts have failed, the lost ones not counted. At least 1. */
  readonly failures: number
  readonly retry_count: number
  readonly retry_after_seconds: number | null
}

/**
 * How long to wait before the next attempt, or null when none is left. Exponential from a second,
 * doubling, at most an hour, with full jitter so that what failed together does not come back
 * together. A server that says when to come back is waited for, up to the hour.
 */
export const nextAttempt = (retry: RetryState, random: number): number | null => {
  if (retry.failures > retry.retry_count) return null
  const ceiling = Math.min(firstMs * 2 ** (retry.failures - 1), longestMs)
  const jittered = Math.round(random * ceiling)
  const asked = Math.max(0, retry.retry_after_seconds ?? 0) * 1_000
  return Math.min(Math.max(jittered, asked), longestMs)
}
