/**
 * A new run may have been due this long ago, because its transaction may take this long to commit.
 */
const lateMs = 10_000

/** A search of the whole index is followed by a pause of this many times its duration. */
const restPerSearch = 100

const longestRestMs = 5_000

/**
 * The time at which the next search for due runs begins. A search from the beginning of the index
 * passes over everything that was finished since the oldest transaction began, so the longer it
 * takes, the less often it is done. It finds runs that are added with an old time: runs of lost
 * nodes and of missed slots.
 */
export class DueFrom {
  #fromMs = 0
  #allAgainAtMs = Number.NEGATIVE_INFINITY

  at(nowMs: number): number {
    return nowMs >= this.#allAgainAtMs ? 0 : this.#fromMs
  }

  /** Makes the next search begin at the beginning of the index. */
  forget(): void {
    this.#allAgainAtMs = Number.NEGATIVE_INFINITY
  }

  learn(search: {
    readonly fromMs: number
    readonly askedMs: number
    readonly answeredMs: number
    readonly nextDueMs: number | null
    /** The time of the search by the database clock. */
    readonly nowMs: number
  }): void {
    this.#fromMs = Math.min(search.nextDueMs ?? search.nowMs, search.nowMs - lateMs)
    if (search.fromMs > 0) return
    const tookMs = search.answeredMs - search.askedMs
    this.#allAgainAtMs = search.answeredMs + Math.min(longestRestMs, restPerSearch * tookMs)
  }
}
