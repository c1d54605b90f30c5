/**
 * The maximum time between the due time of a new run and its commit. A search must look back this
 * far.
 */
const lateMs = 10_000

/** The ratio of the pause after a search of the whole index to the duration of the search. */
const restPerSearch = 100

const longestRestMs = 5_000

/**
 * The time at which the next search for due runs begins. A search from the beginning of the index
 * passes over the dead entries of all runs that finished since the oldest transaction began. The
 * longer such a search takes, the less often it is done. It is needed for runs that are added with
 * an old due time, such as runs of lost nodes and of missed slots.
 */
export class DueSearchStart {
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
