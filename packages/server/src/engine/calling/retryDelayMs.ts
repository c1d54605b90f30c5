import type { Retry } from "@scheduling/domain/calls/CallOptions"

const firstMs = 1_000
const maxDelayMs = 3_600_000

export interface RetryState {
  /** The number of failed attempts, not counting lost ones. At least 1. */
  readonly failures: number
  readonly retry_count: number
  /** Undefined if the task has no custom delays. */
  readonly waits?: Omit<Retry, "count"> | undefined
  readonly retry_after_seconds: number | null
}

/**
 * Returns the delay before the next attempt, or null if no attempt is left. The default backoff is
 * exponential: it starts at one second, doubles each time, and is capped at an hour. Full jitter
 * spreads the retries of runs that failed together. Custom delays get half of that jitter, so at
 * least half of the chosen delay remains. A `Retry-After` header of the response sets the minimum,
 * up to an hour.
 */
export const retryDelayMs = (retry: RetryState, random: number): number | null => {
  if (retry.failures > retry.retry_count) return null
  const jittered = Math.round(waitOf(retry, random))
  const asked = Math.max(0, retry.retry_after_seconds ?? 0) * 1_000
  return Math.max(jittered, Math.min(asked, maxDelayMs))
}

const waitOf = ({ failures, waits }: RetryState, random: number): number => {
  if (waits === undefined) return random * Math.min(firstMs * 2 ** (failures - 1), maxDelayMs)
  const { factor, first_seconds, max_seconds } = waits
  const seconds = Math.min(first_seconds * factor ** (failures - 1), max_seconds)
  return (seconds * 1_000 * (1 + random)) / 2
}
