/** The maximum number of pings per minute of a ping URL. No job needs more. */
const maxEventsPerMinute = 60

/** Counts the events of each ping URL in the current minute. */
export class EventQuota {
  #minute = 0
  #taken = new Map<string, number>()

  isLeft(pingId: string, ms: number): boolean {
    return this.#takenAt(pingId, ms) < maxEventsPerMinute
  }

  /** Returns false if the quota of this minute is used up. */
  take(pingId: string, ms: number): boolean {
    const taken = this.#takenAt(pingId, ms)
    this.#taken.set(pingId, taken + 1)
    return taken < maxEventsPerMinute
  }

  #takenAt(pingId: string, ms: number): number {
    const minute = Math.floor(ms / 60_000)
    if (minute > this.#minute) {
      this.#minute = minute
      this.#taken = new Map()
    }
    return this.#taken.get(pingId) ?? 0
  }
}
