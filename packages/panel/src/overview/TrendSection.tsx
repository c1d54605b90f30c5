import type { ExecutionBucket, ExecutionStats } from "@scheduling/sdk"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { executionQueries } from "../executions/queries.ts"
import { classes } from "../ui/classes.ts"
import { FigureCard, FigureCards } from "../ui/layout/FigureCard.tsx"
import { Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useNow } from "../ui/values/clock.ts"
import { formatShortDateTime, formatTimeOfDay } from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { EmptyValue } from "../ui/values/Time.tsx"
import { lastDayQuery } from "./prefetchOverview.ts"
import { type Metric, metrics, type TrendHour, trendOf, valueOfPreviousDays } from "./trend.ts"

const hourMs = 3_600_000

/** Compares the metrics of the last 24 hours with those of the 7 days before. */
export const TrendSection = () => {
  const { workspaceId } = useWorkspace()
  const stats = useQuery(executionQueries.stats(workspaceId, lastDayQuery))
  const hour = Math.floor(useNow(60_000) / hourMs)
  const at = (hoursAgo: number) => new Date((hour - hoursAgo) * hourMs).toISOString()
  const before = useQuery({
    ...executionQueries.stats(workspaceId, { bucket: "hour", from: at(8 * 24), to: at(24) }),
    placeholderData: keepPreviousData,
    refetchInterval: false,
    staleTime: hourMs
  })
  // The page shows the first query's error.
  if (stats.data === undefined && stats.error !== null) return null
  return (
    <Section
      title="Last 24 hours"
      actions={
        <span className="flex flex-wrap justify-end gap-x-5 gap-y-1 text-xs text-faint">
          <LegendKey className="bg-live" name="By hour" />
          <LegendKey className="bg-faint/60" name="Same hour, 7 days before" />
        </span>
      }
    >
      <div className="flex flex-col gap-3">
        <Problem error={before.error} retry={before.refetch} />
        <FigureCards>
          {metrics.map((measure) => (
            <MeasureFigure
              key={measure.name}
              measure={measure}
              stats={stats.data}
              before={before.data}
            />
          ))}
        </FigureCards>
      </div>
    </Section>
  )
}

const none: ReadonlyArray<ExecutionBucket> = []

const MeasureFigure = ({
  before,
  measure,
  stats
}: {
  readonly measure: Metric
  readonly stats: ExecutionStats | undefined
  readonly before: ExecutionStats | undefined
}) => {
  const value = stats && measure.of(stats.totals)
  const earlier = before && valueOfPreviousDays(measure, before.totals, before.buckets)
  const isWorse = value != null && earlier != null && measure.isWorse(value, earlier)
  return (
    <FigureCard
      name={measure.name}
      value={
        value === undefined ? undefined : value === null ? <EmptyValue /> : measure.text(value)
      }
      note={
        <>
          <span className="block min-h-4">{stats && measure.detail(stats.totals)}</span>
          <span className={classes("block min-h-4", isWorse && "font-medium text-warn")}>
            {earlier === null && "No runs in the 7 days before"}
            {earlier != null &&
              `${measure.text(earlier)}${measure.name === "Runs" ? " a day" : ""} in the 7 days before`}
          </span>
        </>
      }
    >
      <TrendChart
        measure={measure}
        hours={stats === undefined ? [] : trendOf(measure, stats.buckets, before?.buckets ?? none)}
      />
    </FigureCard>
  )
}

const width = 240
const height = 48

const TrendChart = ({
  hours,
  measure
}: {
  readonly measure: Metric
  readonly hours: ReadonlyArray<TrendHour>
}) => {
  const values = hours.flatMap(({ usual, value }) => [usual ?? [], value ?? []].flat())
  const top = Math.max(1, ...values)
  // A small change in a rate is more visible if the scale does not begin at zero.
  const bottom = measure.name === "Success rate" ? Math.min(0.99, ...values) : 0
  const step = width / Math.max(1, hours.length)
  const yOf = (value: number) => height - 2 - ((value - bottom) / (top - bottom)) * (height - 4)
  const line = (which: "usual" | "value") =>
    hours
      .map((hour, index) => {
        const value = hour[which]
        if (value === null) return ""
        const isFirst = index === 0 || hours[index - 1]?.[which] == null
        return `${isFirst ? "M" : "L"}${(index * step).toFixed(1)},${yOf(value).toFixed(1)}h${step.toFixed(1)}`
      })
      .join("")
  const first = hours[0]
  return (
    <div className="mt-2">
      <svg
        aria-hidden
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="block h-12 w-full border-b border-line"
      >
        <Line path={line("usual")} className="stroke-faint/60" />
        <Line path={line("value")} className="stroke-live" />
        {hours.map((hour, index) => (
          <rect
            key={hour.start}
            x={index * step}
            width={step}
            height={height}
            className="fill-transparent hover:fill-live/10"
          >
            <title>{titleOf(measure, hour)}</title>
          </rect>
        ))}
      </svg>
      <p aria-hidden className="mt-1 flex min-h-4 justify-between text-xs nums text-faint">
        <span>{first && formatShortDateTime(first.start)}</span>
        <span>{first && "now"}</span>
      </p>
      <HoursTable measure={measure} hours={hours} />
    </div>
  )
}

const Line = ({ className, path }: { readonly path: string; readonly className: string }) => (
  <path
    d={path}
    fill="none"
    vectorEffect="non-scaling-stroke"
    strokeWidth={2}
    className={className}
  />
)

const textOf = ({ text }: Metric, value: number | null) =>
  value === null ? "no runs" : text(value)

const titleOf = (measure: Metric, { start, usual, value }: TrendHour) =>
  `${formatShortDateTime(start)} to ${formatTimeOfDay(start + hourMs)}: ${textOf(measure, value)}, before: ${textOf(measure, usual)}`

/** The chart's values, for screen readers. */
const HoursTable = ({
  hours,
  measure
}: {
  readonly measure: Metric
  readonly hours: ReadonlyArray<TrendHour>
}) => (
  // A table would ignore the size that `sr-only` sets.
  <div className="sr-only">
    <table>
      <caption>{measure.name} by hour</caption>
      <thead>
        <tr>
          <th scope="col">Hour</th>
          <th scope="col">Value</th>
          <th scope="col">Same hour, 7 days before</th>
        </tr>
      </thead>
      <tbody>
        {hours.map(({ start, usual, value }) => (
          <tr key={start}>
            <th scope="row">{formatShortDateTime(start)}</th>
            <td>{textOf(measure, value)}</td>
            <td>{textOf(measure, usual)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
