/** The rate limit status of a credential. */
export interface RateLimitState {
  /** Whether this request exceeded the limit. */
  readonly isOver: boolean
  /** The number of requests in a row that would be accepted now. */
  readonly remaining: number
  /**
   * Seconds until `remaining` is back at its maximum or, if it is 0, until it is 1. If this request
   * exceeded the limit, seconds until it would be accepted.
   */
  readonly seconds: number
}

/**
 * A token bucket per credential. It starts full and refills evenly within a window, so all requests
 * of a window may arrive at the same time. The default window is a minute. Bytes may be counted
 * instead of requests.
 *
 * A bucket is stored as the time at which it is full again. A full bucket needs no storage, so all
 * buckets that were not used for a window are dropped together.
 */
export class RateLimits<Key = string> {
  readonly #perWindow: number
  readonly #windowMs: number
  readonly #refillMs: number
  #used = new Map<Key, number>()
  #usedBefore = new Map<Key, number>()
  #nextTurnMs = -Infinity

  constructor(perWindow: number, windowMs = rateLimitWindowSeconds * 1_000) {
    this.#perWindow = perWindow
    this.#windowMs = windowMs
    this.#refillMs = windowMs / perWindow
  }

  /**
   * Takes `requests` requests out of the bucket. A rejected request takes nothing. The amount is
   * limited to a full bucket.
   */
  take(credential: Key, nowMs: number, requests = 1): RateLimitState {
    const takenMs = Math.min(requests, this.#perWindow) * this.#refillMs
    const missingMs = this.#missingMs(credential, nowMs)
    const windowMs = this.#windowMs
    const isOver = missingMs + takenMs > windowMs + roundingMs
    const missingAfterMs = isOver ? missingMs : missingMs + takenMs
    if (!isOver) this.#used.set(credential, nowMs + missingAfterMs)
    const remaining = Math.floor((windowMs - missingAfterMs + roundingMs) / this.#refillMs)
    const untilNextMs = missingAfterMs + (isOver ? takenMs : this.#refillMs) - windowMs
    const waitMs = isOver || remaining === 0 ? untilNextMs : missingAfterMs
    return { isOver, remaining, seconds: Math.ceil((waitMs - roundingMs) / 1_000) }
  }

  /**
   * Takes an amount that is already used, even if the bucket has less left. Returns for how many
   * milliseconds the bucket is overdrawn.
   */
  charge(credential: Key, nowMs: number, amount: number): number {
    const missingMs = this.#missingMs(credential, nowMs) + amount * this.#refillMs
    this.#used.set(credential, nowMs + missingMs)
    return Math.max(0, missingMs - this.#windowMs)
  }

  get size(): number {
    return this.#used.size + this.#usedBefore.size
  }

  /** Returns the milliseconds until the bucket is full again. */
  #missingMs(credential: Key, nowMs: number): number {
    if (nowMs >= this.#nextTurnMs) this.#dropFull(nowMs)
    const fullAt = this.#used.get(credential) ?? this.#usedBefore.get(credential) ?? nowMs
    return Math.max(0, fullAt - nowMs)
  }

  #dropFull(nowMs: number): void {
    this.#usedBefore = this.#used
    this.#used = new Map()
    this.#nextTurnMs = nowMs + this.#windowMs
  }
}

export const rateLimitWindowSeconds = 60

/** The tolerance for rounding errors in sums of fractions of a millisecond. */
const roundingMs = 1e-6
