/** The maximum number of events per minute per key. No job needs more. */
const maxEventsPerMinute = 60

/** Counts the events of each key in the current minute, such as the pings of each ping URL. */
export class MinuteQuota {
  #minute = 0
  #taken = new Map<string, number>()

  isLeft(key: string, ms: number): boolean {
    return this.#takenAt(key, ms) < maxEventsPerMinute
  }

  /** Returns false if the quota of this minute is used up. */
  take(key: string, ms: number): boolean {
    const taken = this.#takenAt(key, ms)
    this.#taken.set(key, taken + 1)
    return taken < maxEventsPerMinute
  }

  #takenAt(key: string, ms: number): number {
    const minute = Math.floor(ms / 60_000)
    // A late event can belong to the previous minute. An earlier one means that the clock was set
    // back.
    if (minute > this.#minute || minute < this.#minute - 1) {
      this.#minute = minute
      this.#taken = new Map()
    }
    return this.#taken.get(key) ?? 0
  }
}
