/** Far more than any job needs, and what a monitor may add to the history however often it is pinged. */
const maxEventsPerMinute = 60

/** Counts the events of each ping URL in the minute that is now. */
export class EventQuota {
  #minute = 0
  #taken = new Map<string, number>()

  isLeft(pingId: string, ms: number): boolean {
    return this.#takenAt(pingId, ms) < maxEventsPerMinute
  }

  /** False where there is none left in this minute. */
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
