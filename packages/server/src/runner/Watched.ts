/** Which endings other nodes want to hear of, and what has ended lately. Bounded, whatever they ask. */
export class Watched {
  readonly #limits: WatchedLimits
  /** Until when, the earliest first. */
  readonly #wanted = new Map<string, number>()
  /** The last ones, in two halves: when the newer one is full, the older one is forgotten. */
  #ended = new Set<string>()
  #endedBefore: ReadonlySet<string> = new Set()

  constructor(limits: WatchedLimits = defaultLimits) {
    this.#limits = limits
  }

  /** Another node waits for the end of this. True: it has ended lately, and that node may not know. */
  want(id: string, nowMs: number): boolean {
    this.#wanted.delete(id)
    this.#wanted.set(id, nowMs + this.#limits.wantedMs)
    for (const [oldest, untilMs] of this.#wanted) {
      if (untilMs > nowMs && this.#wanted.size <= this.#limits.wanted) break
      this.#wanted.delete(oldest)
    }
    return this.#ended.has(id) || this.#endedBefore.has(id)
  }

  /** It has ended. True: another node waits for it. */
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
  /** Longer than the longest wait: it is said once for each. */
  readonly wantedMs: number
  /** Enough for the seconds that an announcement may take while thousands end in each. */
  readonly ended: number
}

const defaultLimits: WatchedLimits = { wanted: 100_000, wantedMs: 60_000, ended: 32_768 }
