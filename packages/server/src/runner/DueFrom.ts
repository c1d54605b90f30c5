/** A run may come in with a time so long ago: its transaction took so long to commit. */
const lateMs = 10_000

/** Looking from the very beginning may take this part of the time. */
const part = 100

const longestMs = 5_000

/**
 * Since when there may be runs that are due. Whoever looks from the beginning of the index walks over
 * all that was done since the oldest transaction began, so that is done the seldomer the longer it
 * takes. It finds what comes in with an old time: runs of lost nodes and missed slots.
 */
export class DueFrom {
  #fromMs = 0
  #allAgainAtMs = Number.NEGATIVE_INFINITY

  at(nowMs: number): number {
    return nowMs >= this.#allAgainAtMs ? 0 : this.#fromMs
  }

  /** From the very beginning, the next time. */
  forget(): void {
    this.#allAgainAtMs = Number.NEGATIVE_INFINITY
  }

  learn(look: {
    readonly fromMs: number
    readonly askedMs: number
    readonly answeredMs: number
    readonly nextDueMs: number | null
    /** The database's. */
    readonly nowMs: number
  }): void {
    this.#fromMs = Math.min(look.nextDueMs ?? look.nowMs, look.nowMs - lateMs)
    if (look.fromMs > 0) return
    const tookMs = look.answeredMs - look.askedMs
    this.#allAgainAtMs = look.answeredMs + Math.min(longestMs, part * tookMs)
  }
}
