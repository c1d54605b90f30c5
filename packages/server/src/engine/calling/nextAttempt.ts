import type { Retry } from "@scheduling/domain/calls/CallOptions"

const firstMs = 1_000
const longestMs = 3_600_000

export interface RetryState {
  /** How many attempts have failed, not counting lost ones. At least 1. */
  readonly failures: number
  readonly retry_count: number
  /** Undefined if the author of the call says nothing of the waits. */
  readonly waits?: Omit<Retry, "count"> | undefined
  readonly retry_after_seconds: number | null
}

/**
 * How long to wait before the next attempt, or null if none is left. The wait is exponential: it
 * begins at one second, doubles, and is at most an hour. Full jitter keeps runs that failed
 * together from coming back together. Whoever chooses the waits gets at least half of what they
 * chose. If the server says when to come back, the wait is at least that long, up to an hour.
 */
export const nextAttempt = (retry: RetryState, random: number): number | null => {
  if (retry.failures > retry.retry_count) return null
  const jittered = Math.round(waitOf(retry, random))
  const asked = Math.max(0, retry.retry_after_seconds ?? 0) * 1_000
  return Math.max(jittered, Math.min(asked, longestMs))
}

const waitOf = ({ failures, waits }: RetryState, random: number): number => {
  if (waits === undefined) return random * Math.min(firstMs * 2 ** (failures - 1), longestMs)
  const { factor, first_seconds, max_seconds } = waits
  const seconds = Math.min(first_seconds * factor ** (failures - 1), max_seconds)
  return (seconds * 1_000 * (1 + random)) / 2
}
