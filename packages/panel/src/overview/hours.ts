import type { Forecast } from "@scheduling/sdk"
import { bucketsOf } from "../forecast/buckets.ts"

export interface Hour {
  readonly start: number
  readonly runs: number
  /** How many of them begin in one of the fullest minutes. */
  readonly colliding: number
  /** What runs in its fullest minutes. */
  readonly names: ReadonlyArray<string>
}

const hourMs = 3_600_000

/** The runs of the next 24 hours, an hour a bar. */
export const hoursOf = (forecast: Forecast): ReadonlyArray<Hour> =>
  bucketsOf(forecast, hourMs)
    .slice(0, 24)
    .map(({ runs, start }) => {
      const full = forecast.busiest.filter(
        ({ at }) => Date.parse(at) - (Date.parse(at) % hourMs) === start
      )
      const colliding = full.reduce((sum, minute) => sum + minute.runs, 0)
      return { start, runs, colliding, names: namesIn(full) }
    })

const namesIn = (minutes: Forecast["busiest"]): ReadonlyArray<string> => [
  ...new Set(
    minutes.flatMap(({ tasks }) => tasks.flatMap(({ name }) => (name === null ? [] : [name])))
  )
]
