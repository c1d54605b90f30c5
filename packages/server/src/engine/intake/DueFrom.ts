/** A new run may be due this long ago, because its transaction may take this long to commit. */
const lateMs = 10_000

/**
 * After a search of the whole index, the next one waits for this many times as long as the search
 * took.
 */
const restPerSearch = 100

const longestRestMs = 5_000

/**
 * The time from which on there may be due runs. A search from the beginning of the index walks over
 * everything that was done since the oldest transaction began, so the longer it takes, the less
 * often it is done. It finds runs that are added with an old time: runs of lost nodes and of missed
 * slots.
 */
export class DueFrom {
  #fromMs = 0
  #allAgainAtMs = Number.NEGATIVE_INFINITY

  at(nowMs: number): number {
    return nowMs >= this.#allAgainAtMs ? 0 : this.#fromMs
  }

  /** Lets the next search start from the very beginning. */
  forget(): void {
    this.#allAgainAtMs = Number.NEGATIVE_INFINITY
  }

  learn(search: {
    readonly fromMs: number
    readonly askedMs: number
    readonly answeredMs: number
    readonly nextDueMs: number | null
    /** On the database's clock. */
    readonly nowMs: number
  }): void {
    this.#fromMs = Math.min(search.nextDueMs ?? search.nowMs, search.nowMs - lateMs)
    if (search.fromMs > 0) return
    const tookMs = search.answeredMs - search.askedMs
    this.#allAgainAtMs = search.answeredMs + Math.min(longestRestMs, restPerSearch * tookMs)
  }
}
