/** Far more than any job needs, and what a monitor may add to the history however often it is pinged. */
export const maxEventsPerMinute = 60

/** Counts the events of each monitor in the minute that is now. */
export class EventQuota {
  #minute = 0
  #taken = new Map<string, number>()

  /** False where there is none left in this minute. */
  take(monitorId: string, ms: number): boolean {
    const minute = Math.floor(ms / 60_000)
    if (minute > this.#minute) {
      this.#minute = minute
      this.#taken = new Map()
    }
    const taken = this.#taken.get(monitorId) ?? 0
    this.#taken.set(monitorId, taken + 1)
    return taken < maxEventsPerMinute
  }
}
