import type { ExecutionBucket, ExecutionFigures } from "@scheduling/sdk"
import { formatCount, formatDuration, formatPercent } from "../ui/values/format.ts"

const hourMs = 3_600_000

/** An execution metric, with its value in an hour or in a longer period. */
export interface Metric {
  readonly name: string
  /** Null if nothing was measured. */
  readonly of: (figures: ExecutionFigures) => number | null
  readonly text: (value: number) => string
  /** The text below the value for the last 24 hours. */
  readonly detail: (figures: ExecutionFigures) => string | undefined
  readonly isWorse: (value: number, before: number) => boolean
}

export const runsOf = ({ counts }: Pick<ExecutionFigures, "counts">) =>
  counts.succeeded + counts.failed

/** The smallest difference in milliseconds that is marked. */
const minSlowerMs = 100

const isSlower = (value: number, before: number) =>
  value > 1.5 * before && value - before > minSlowerMs

const runsMeasure: Metric = {
  name: "Runs",
  of: runsOf,
  text: (runs) => formatCount(Math.round(runs)),
  detail: ({ counts }) => `${formatCount(counts.failed)} failed`,
  isWorse: () => false
}

export const metrics: ReadonlyArray<Metric> = [
  {
    name: "Success rate",
    of: ({ success_rate }) => success_rate,
    text: formatPercent,
    detail: () => "excluding skipped and cancelled runs",
    isWorse: (value, before) => value < before - 0.01
  },
  runsMeasure,
  {
    name: "Median duration",
    of: ({ duration_ms }) => duration_ms?.p50 ?? null,
    text: formatDuration,
    detail: ({ duration_ms }) =>
      duration_ms ? `p99 ${formatDuration(duration_ms.p99)}` : undefined,
    isWorse: isSlower
  },
  {
    name: "Median lateness",
    of: ({ lateness_ms }) => lateness_ms?.p50 ?? null,
    text: formatDuration,
    detail: ({ lateness_ms }) =>
      lateness_ms ? `p99 ${formatDuration(lateness_ms.p99)}` : undefined,
    isWorse: isSlower
  }
]

/** A metric's value in one hour, with the usual value in the same hour on previous days. */
export interface TrendHour {
  readonly start: number
  readonly value: number | null
  readonly usual: number | null
}

const hourOfDay = ({ start }: Pick<ExecutionBucket, "start">) =>
  Math.floor(Date.parse(start) / hourMs) % 24

const median = (values: ReadonlyArray<number>): number | null => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? null
}

/**
 * Returns a metric's value for each hour. The usual value is the median of the same hour on
 * previous days.
 */
export const trendOf = (
  { of }: Metric,
  buckets: ReadonlyArray<ExecutionBucket>,
  before: ReadonlyArray<ExecutionBucket>
): ReadonlyArray<TrendHour> => {
  const byHour = Map.groupBy(
    before.filter((bucket) => runsOf(bucket) > 0),
    hourOfDay
  )
  return buckets.map((bucket) => ({
    start: Date.parse(bucket.start),
    value: of(bucket),
    usual: median((byHour.get(hourOfDay(bucket)) ?? []).flatMap((earlier) => of(earlier) ?? []))
  }))
}

/**
 * Returns a metric's value over the previous days. For the number of runs, returns the average per
 * day that had runs.
 */
export const valueOfPreviousDays = (
  measure: Metric,
  totals: ExecutionFigures,
  buckets: ReadonlyArray<ExecutionBucket>
): number | null => {
  if (runsOf(totals) === 0) return null
  const value = measure.of(totals)
  if (measure !== runsMeasure || value === null) return value
  const days = buckets.filter(
    (_, index) =>
      index % 24 === 0 && buckets.slice(index, index + 24).some((bucket) => runsOf(bucket) > 0)
  )
  return value / days.length
}
