import type { ExecutionBucket, ExecutionStats } from "@scheduling/sdk"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { executionQueries } from "../executions/queries.ts"
import { LineChart } from "../ui/charts/LineChart.tsx"
import { classes } from "../ui/classes.ts"
import { FigureCard, FigureCards } from "../ui/layout/FigureCard.tsx"
import { Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useNow } from "../ui/values/clock.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { EmptyValue } from "../ui/values/Time.tsx"
import { lastDayQuery } from "./prefetchOverview.ts"
import {
  type Metric,
  metrics,
  type TrendHour,
  runsOf,
  trendOf,
  valueOfPreviousDays
} from "./trend.ts"

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
  const hasEarlier =
    before.data === undefined || before.data.buckets.some((bucket) => runsOf(bucket) > 0)
  // The page shows the first query's error.
  if (stats.data === undefined && stats.error !== null) return null
  return (
    <Section
      title="Last 24 hours"
      actions={
        <span className="flex flex-wrap justify-end gap-x-5 gap-y-1 text-xs text-faint">
          <LegendKey className="bg-ink" name="Per hour" />
          {hasEarlier ? (
            <LegendKey className="bg-faint/60" name="Same hour last week" />
          ) : (
            "No runs a week ago"
          )}
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

const TrendChart = ({
  hours,
  measure
}: {
  readonly measure: Metric
  readonly hours: ReadonlyArray<TrendHour>
}) => {
  const values = hours.flatMap(({ usual, value }) => [usual ?? [], value ?? []].flat())
  return (
    <div className="mt-4">
      <LineChart
        label={`${measure.name} per hour`}
        columns={hours.map(({ start, usual, value }) => ({
          start,
          end: start + hourMs,
          main: value,
          other: usual,
          values: valuesOf(measure, value, usual)
        }))}
        top={Math.max(1, ...values)}
        text={measure.text}
        className="h-12"
        isSmall
      />
    </div>
  )
}

const valuesOf = ({ text }: Metric, value: number | null, usual: number | null) =>
  [
    value === null ? "no runs" : text(value),
    ...(usual === null ? [] : [`usually ${text(usual)}`])
  ].join(", ")
