/**
 * The ids that other nodes wait for, and the ids that ended recently. The size of both lists is
 * limited, regardless of the number of requested ids.
 */
export class WatchedIds {
  readonly #limits: WatchedIdsLimits
  /** The time until which another node waits for the id, earliest first. */
  readonly #wanted = new Map<string, number>()
  /**
   * The ids that ended recently, in two sets. When the newer set is full, the older set is dropped.
   */
  #ended = new Set<string>()
  #endedBefore: ReadonlySet<string> = new Set()

  constructor(limits: WatchedIdsLimits = defaultLimits) {
    this.#limits = limits
  }

  /**
   * Records that another node waits for the end of the run, workspace or membership with this id.
   * Returns true if it has ended recently, because the other node may not have been notified.
   */
  want(id: string, nowMs: number): boolean {
    this.#wanted.delete(id)
    this.#wanted.set(id, nowMs + this.#limits.wantedMs)
    for (const [oldest, untilMs] of this.#wanted) {
      if (untilMs > nowMs && this.#wanted.size <= this.#limits.wanted) break
      this.#wanted.delete(oldest)
    }
    return this.#ended.has(id) || this.#endedBefore.has(id)
  }

  /** Records that the id has ended. Returns true if another node waits for the id. */
  end(id: string, nowMs: number): boolean {
    if (this.#ended.size >= this.#limits.ended / 2) {
      this.#endedBefore = this.#ended
      this.#ended = new Set()
    }
    this.#ended.add(id)
    return (this.#wanted.get(id) ?? 0) > nowMs
  }

  get size(): number {
    return this.#wanted.size + this.#ended.size + this.#endedBefore.size
  }
}

export interface WatchedIdsLimits {
  readonly wanted: number
  /**
   * How long an announcement is remembered. It is longer than any wait, because a request announces
   * its id only once.
   */
  readonly wantedMs: number
  /**
   * The number of ended ids that are remembered. Thousands can end per second, and an announcement
   * can take some seconds to arrive.
   */
  readonly ended: number
}

const defaultLimits: WatchedIdsLimits = { wanted: 100_000, wantedMs: 60_000, ended: 32_768 }
