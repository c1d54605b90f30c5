import type { Forecast } from "@scheduling/sdk"
import { Chart } from "../ui/charts/Chart.tsx"
import {
  formatCount,
  formatDay,
  formatShortDateTime,
  formatTimeOfDay
} from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { type Bucket, bucketsOf } from "./buckets.ts"
import type { ForecastSpan } from "./search.ts"

const bucketMs: Readonly<Record<ForecastSpan, number>> = { day: 900_000, week: 3_600_000 }
const chartHeight = 100

export const ForecastChart = ({
  forecast,
  span
}: {
  readonly forecast: Forecast
  readonly span: ForecastSpan
}) => {
  const lengthMs = bucketMs[span]
  const unit = span === "day" ? "15 minutes" : "an hour"
  const buckets = bucketsOf(forecast, lengthMs)
  const most = Math.max(1, ...buckets.map(({ runs }) => runs))
  const crowded = new Set(
    forecast.busiest.map(({ at }) => Math.floor(Date.parse(at) / lengthMs) * lengthMs)
  )
  const heightOf = (runs: number) => (runs === 0 ? 0 : Math.max(2, (runs / most) * chartHeight))
  return (
    <figure>
      <figcaption className="mb-4 flex flex-wrap gap-x-5 gap-y-1 text-xs text-faint">
        <LegendKey className="bg-edge" name={`Runs that start in ${unit}`} />
        {crowded.size > 0 && (
          <LegendKey className="bg-warn" name="Those in one of the busiest minutes, listed below" />
        )}
      </figcaption>
      <Chart
        label={`${forecast.runs} runs from ${formatShortDateTime(forecast.from)} to ${formatShortDateTime(forecast.to)}`}
        columns={buckets.map((bucket) => ({
          start: bucket.start,
          end: bucket.start + lengthMs,
          values: valuesOf(bucket)
        }))}
        top={formatCount(most)}
        bottom="0"
        axis={
          <div className="relative h-4">
            {ticksOf(buckets, span).map(({ at, isOnPhone, text }) => (
              <span
                key={at}
                className={`absolute -translate-x-1/2 ${isOnPhone ? "" : "max-sm:hidden"}`}
                style={{ left: `${(at / buckets.length) * 100}%` }}
              >
                {text}
              </span>
            ))}
          </div>
        }
        className="h-40"
      >
        <svg
          viewBox={`0 0 ${buckets.length} ${chartHeight}`}
          preserveAspectRatio="none"
          className="block size-full"
        >
          {buckets.map((bucket, index) => (
            <g key={bucket.start}>
              <rect
                x={index + 0.12}
                width={0.76}
                y={chartHeight - heightOf(bucket.runs)}
                height={heightOf(bucket.runs)}
                className="fill-edge"
              />
              {crowded.has(bucket.start) && (
                <rect
                  x={index + 0.12}
                  width={0.76}
                  y={chartHeight - heightOf(bucket.runs)}
                  height={heightOf(bucket.most)}
                  className="fill-warn"
                />
              )}
            </g>
          ))}
        </svg>
      </Chart>
    </figure>
  )
}

const valuesOf = ({ most, runs }: Bucket) =>
  `${formatCount(runs)} ${runs === 1 ? "run" : "runs"}${most > 1 ? `, at most ${formatCount(most)} in one minute` : ""}`

interface Tick {
  readonly at: number
  readonly text: string
  readonly isOnPhone: boolean
}

/**
 * Returns the axis ticks in the user's time zone: every third hour of a day, or every midnight of a
 * week.
 */
const ticksOf = (buckets: ReadonlyArray<Bucket>, span: ForecastSpan): ReadonlyArray<Tick> =>
  buckets.flatMap(({ start }, at): ReadonlyArray<Tick> => {
    const date = new Date(start)
    if (date.getMinutes() !== 0 || at < buckets.length * 0.03 || at > buckets.length * 0.97)
      return []
    const hour = date.getHours()
    return span === "day"
      ? hour % 3 === 0
        ? [{ at, text: formatTimeOfDay(start), isOnPhone: hour % 6 === 0 }]
        : []
      : hour === 0
        ? [{ at, text: formatDay(start), isOnPhone: date.getDay() % 2 === 1 }]
        : []
  })
