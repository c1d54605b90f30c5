import type { ExecutionBucket, Forecast } from "@scheduling/sdk"
import { bucketsOf } from "../forecast/buckets.ts"

interface Bar {
  readonly start: number
  readonly end: number
  readonly runs: number
}

export interface Done extends Bar {
  readonly succeeded: number
  readonly failed: number
}

export interface Coming extends Bar {
  /** The number of runs that start in the same minute as another run. */
  readonly colliding: number
  /** The names of tasks in the busiest minutes. */
  readonly names: ReadonlyArray<string>
}

const hourMs = 3_600_000

/** The minimum width of a click target (WCAG 2.5.8). */
const minBarPx = 24

/** The width of the "now" line between past and future. */
const nowPx = 9

/** Returns the number of hours per bar such that 48 hours fit into the width. */
export const hoursPerBar = (widthPx: number): number =>
  [1, 2, 3, 4, 6].find((hours) => widthPx - nowPx >= (48 / hours + 1) * minBarPx) ?? 8

/** Returns the bars for the last 24 hours and for the current hour up to now. */
export const pastBars = (
  buckets: ReadonlyArray<ExecutionBucket>,
  hours: number,
  now: number
): ReadonlyArray<Done> => {
  const past = buckets.slice(-25)
  return chunksOf(past, hours, past.length % hours).map((chunk) => {
    const succeeded = sum(chunk.map(({ counts }) => counts.succeeded))
    const failed = sum(chunk.map(({ counts }) => counts.failed))
    return {
      start: Date.parse(chunk[0]?.start ?? ""),
      end: Math.min(Date.parse(chunk.at(-1)?.start ?? "") + hourMs, now),
      runs: succeeded + failed,
      succeeded,
      failed
    }
  })
}

/** Returns the bars for the next 24 hours. The first bar starts now. */
export const upcomingBars = (
  forecast: Forecast,
  hours: number,
  now: number
): ReadonlyArray<Coming> =>
  chunksOf(bucketsOf(forecast, hourMs).slice(0, 24), hours, 0).map((chunk) => {
    const start = chunk[0]?.start ?? 0
    const end = start + chunk.length * hourMs
    const isIn = ({ at }: { readonly at: string }) =>
      Date.parse(at) >= start && Date.parse(at) < end
    const together = forecast.minutes.filter(({ runs }) => runs > 1).filter(isIn)
    return {
      start: Math.min(Math.max(start, now), end),
      end,
      runs: sum(chunk.map(({ runs }) => runs)),
      colliding: sum(together.map(({ runs }) => runs)),
      names: namesIn(forecast.busiest.filter(isIn))
    }
  })

/** Splits a list into a first chunk of `first` items (none if 0) and chunks of `size` items. */
const chunksOf = <A>(
  all: ReadonlyArray<A>,
  size: number,
  first: number
): ReadonlyArray<ReadonlyArray<A>> => [
  ...(first === 0 ? [] : [all.slice(0, first)]),
  ...Array.from({ length: Math.ceil((all.length - first) / size) }, (_, index) =>
    all.slice(first + index * size, first + (index + 1) * size)
  )
]

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const namesIn = (minutes: Forecast["busiest"]): ReadonlyArray<string> => [
  ...new Set(
    minutes.flatMap(({ tasks }) => tasks.flatMap(({ name }) => (name === null ? [] : [name])))
  )
]
