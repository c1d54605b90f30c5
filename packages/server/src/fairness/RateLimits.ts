/** What a credential may still do. */
export interface Standing {
  /** Whether this request was one too many. */
  readonly isOver: boolean
  /** Requests that would be answered now, one after another. */
  readonly remaining: number
  /**
   * Until `remaining` is whole again or, if it is 0, until it is 1. If this request was one too
   * many: until it would be answered.
   */
  readonly seconds: number
}

/**
 * A bucket of requests per credential, which fills up evenly within a minute and begins full: all
 * requests of a minute may come at once.
 *
 * A bucket is kept as the time at which it will be full. Full ones need no keeping, so buckets that
 * were not used for a minute are dropped, all at once.
 */
export class RateLimits {
  readonly #perMinute: number
  readonly #refillMs: number
  #used = new Map<string, number>()
  #usedBefore = new Map<string, number>()
  #nextTurnMs = -Infinity

  constructor(perMinute: number) {
    this.#perMinute = perMinute
    this.#refillMs = windowMs / perMinute
  }

  /**
   * Takes one request out of the bucket, or one that does the work of many. A refused one takes
   * nothing. More than a full bucket holds is never asked of it.
   */
  take(credential: string, nowMs: number, requests = 1): Standing {
    const takenMs = Math.min(requests, this.#perMinute) * this.#refillMs
    if (nowMs >= this.#nextTurnMs) this.#dropFull(nowMs)
    const fullAt = this.#used.get(credential) ?? this.#usedBefore.get(credential) ?? nowMs
    const missingMs = Math.max(0, fullAt - nowMs)
    const isOver = missingMs + takenMs > windowMs + roundingMs
    const missingAfterMs = isOver ? missingMs : missingMs + takenMs
    if (!isOver) this.#used.set(credential, nowMs + missingAfterMs)
    const remaining = Math.floor((windowMs - missingAfterMs + roundingMs) / this.#refillMs)
    const untilNextMs = missingAfterMs + (isOver ? takenMs : this.#refillMs) - windowMs
    const waitMs = isOver || remaining === 0 ? untilNextMs : missingAfterMs
    return { isOver, remaining, seconds: Math.ceil((waitMs - roundingMs) / 1_000) }
  }

  /** How many credentials are remembered. */
  get size(): number {
    return this.#used.size + this.#usedBefore.size
  }

  #dropFull(nowMs: number): void {
    this.#usedBefore = this.#used
    this.#used = new Map()
    this.#nextTurnMs = nowMs + windowMs
  }
}

export const windowSeconds = 60
const windowMs = windowSeconds * 1_000

/** Thirds of a millisecond do not add up exactly. */
const roundingMs = 1e-6
