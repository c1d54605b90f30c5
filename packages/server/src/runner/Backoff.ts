const firstMs = 1_000
const longestMs = 3_600_000

export interface RetryState {
  /** How many attempts have failed, not counting lost ones. At least 1. */
  readonly failures: number
  readonly retry_count: number
  readonly retry_after_seconds: number | null
}

/**
 * How long to wait before the next attempt, or null if none is left. The wait is exponential: it
 * begins at one second, doubles, and is at most an hour. Full jitter keeps runs that failed
 * together from coming back together. If the server says when to come back, the wait is at least
 * that long, up to the hour.
 */
export const nextAttempt = (retry: RetryState, random: number): number | null => {
  if (retry.failures > retry.retry_count) return null
  const ceiling = Math.min(firstMs * 2 ** (retry.failures - 1), longestMs)
  const jittered = Math.round(random * ceiling)
  const asked = Math.max(0, retry.retry_after_seconds ?? 0) * 1_000
  return Math.min(Math.max(jittered, asked), longestMs)
}
