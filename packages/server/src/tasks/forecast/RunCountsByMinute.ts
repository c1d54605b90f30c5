import { type ForecastRange, maxBusiestMinutes } from "@scheduling/domain/forecast/Forecast"
import type { CountedSlotTiming, SlotTiming } from "./ForecastRepo.ts"
import { visitSlots } from "./visitSlots.ts"

const minuteMs = 60_000
const secondsOfMinute = 60
const minutesPerStep = 500

/** Counts the runs that begin in each minute of a range. */
export class RunCountsByMinute {
  readonly #range: ForecastRange
  readonly #first: number
  readonly #scheduled: Uint32Array
  readonly #scheduledInSecond: Uint32Array
  readonly #delayed: Uint32Array

  constructor(range: ForecastRange) {
    this.#range = range
    this.#first = Math.floor(range.from / minuteMs)
    const length = Math.ceil(range.to / minuteMs) - this.#first
    this.#scheduled = new Uint32Array(length)
    this.#scheduledInSecond = new Uint32Array(length * secondsOfMinute)
    this.#delayed = new Uint32Array(length)
  }

  /**
   * Counts one schedule's slots for all tasks that have it. Returns the number of visited slots. It
   * is a generator, because a schedule can have 100,000 slots and other work must run in between.
   */
  *addRhythm(rhythm: CountedSlotTiming): Generator<void, number> {
    const { tasks } = rhythm
    const counts = this.#scheduled
    const countsOfSeconds = this.#scheduledInSecond
    const first = this.#first * secondsOfMinute
    return yield* visitSlots(rhythm, this.#range, (at) => {
      const second = Math.floor(at / 1_000) - first
      const minute = Math.floor(second / secondsOfMinute)
      countsOfSeconds[second] = (countsOfSeconds[second] ?? 0) + tasks
      counts[minute] = (counts[minute] ?? 0) + tasks
    })
  }

  addDelayed(minute: number, runs: number): void {
    this.#delayed[minute - this.#first] = runs
  }

  get all(): ReadonlyArray<{ readonly minute: number; readonly runs: number }> {
    return Array.from(this.#scheduled, (_, index) => ({
      minute: this.#first + index,
      runs: this.#runsAt(index)
    })).filter(({ runs }) => runs > 0)
  }

  /**
   * Returns the highest number of runs in one second, if schedules' runs were spread over this many
   * minutes after their slots. It yields from time to time, because a week has 600,000 seconds.
   */
  *mostPerSecond(spreadMinutes: number): Generator<void, number> {
    const spread = spreadMinutes * secondsOfMinute
    const counts = this.#scheduledInSecond
    let within = 0
    let most = 0
    for (const [minute, delayed] of this.#delayed.entries()) {
      if (minute % minutesPerStep === 0) yield
      const start = minute * secondsOfMinute
      for (let second = start; second < start + secondsOfMinute; second++) {
        const scheduled = counts[second] ?? 0
        within += scheduled
        if (second >= spread) within -= counts[second - spread] ?? 0
        const perSecond = spread === 0 ? scheduled : within / spread
        most = Math.max(most, perSecond + delayed / secondsOfMinute)
      }
    }
    return Math.ceil(most * 100) / 100
  }

  #runsAt(index: number): number {
    return (this.#scheduled[index] ?? 0) + (this.#delayed[index] ?? 0)
  }
}

/**
 * Returns the minutes in which the most runs begin. Minutes in which only one run begins are left
 * out.
 */
export const busiestMinutesOf = (minutes: RunCountsByMinute["all"]): RunCountsByMinute["all"] =>
  minutes
    .filter(({ runs }) => runs > 1)
    .toSorted((a, b) => b.runs - a.runs || a.minute - b.minute)
    .slice(0, maxBusiestMinutes)

/** Returns whether the schedule fires in the part of the minute that is in the range. */
export function* firesInMinute(
  rhythm: SlotTiming,
  minute: number,
  { from, to }: ForecastRange
): Generator<void, boolean> {
  let fires = false
  const start = Math.max(from, minute * minuteMs)
  const end = Math.min(to, (minute + 1) * minuteMs)
  yield* visitSlots(rhythm, { from: start, to: end }, () => (fires = true))
  return fires
}
