/**
 * The endings that other nodes wait for, and the latest endings. Both are bounded, whatever the
 * nodes ask for.
 */
export class Watched {
  readonly #limits: WatchedLimits
  /** The time until which each ending is wanted, earliest first. */
  readonly #wanted = new Map<string, number>()
  /** The latest endings, in two halves. When the newer half is full, the older one is dropped. */
  #ended = new Set<string>()
  #endedBefore: ReadonlySet<string> = new Set()

  constructor(limits: WatchedLimits = defaultLimits) {
    this.#limits = limits
  }

  /**
   * Records that another node waits for this ending. Returns true if the run has ended recently,
   * because that node may not know.
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

  /** Records an ending. Returns true if another node waits for it. */
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

export interface WatchedLimits {
  readonly wanted: number
  /** Longer than the longest wait, because each request announces only once. */
  readonly wantedMs: number
  /** Enough for the seconds that an announcement may take while thousands end per second. */
  readonly ended: number
}

const defaultLimits: WatchedLimits = { wanted: 100_000, wantedMs: 60_000, ended: 32_768 }
