import type { RequestOptions, TaskUptimeSeries, TaskUptime, UptimePeriod } from "@scheduling/sdk"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { uptimePeriods } from "../data/uptimePeriods.ts"
import { ExecutionBars } from "../executions/ExecutionBars.tsx"
import { barsOfSeries } from "../executions/histogram.ts"
import { executionQueries } from "../executions/queries.ts"
import { bucketsSince } from "../ui/charts/bucketsSince.ts"
import { DurationChart } from "../ui/charts/DurationChart.tsx"
import { RadioButtons } from "../ui/forms/Field.tsx"
import { FigureCard, FigureCards } from "../ui/layout/FigureCard.tsx"
import { Section, Skeleton } from "../ui/layout/Page.tsx"
import { messageOf, Problem } from "../ui/messages/Problem.tsx"
import { useNow } from "../ui/values/clock.ts"
import { formatCount, formatDuration, formatPercent } from "../ui/values/format.ts"
import { YearCalendar } from "./YearCalendar.tsx"

interface Query {
  readonly period: UptimePeriod
}

/** The SDK methods for a task kind's success rate. */
interface MeasuredResource {
  readonly uptime: (id: string, query: Query, options: RequestOptions) => PromiseLike<TaskUptime>
  readonly series: (
    id: string,
    query: Query,
    options: RequestOptions
  ) => PromiseLike<TaskUptimeSeries>
}

const hourMs = 3_600_000

/** The periods, in hours, for which statistics on individual executions are kept by default. */
const recentHours: Partial<Record<UptimePeriod, number>> = { "24h": 24, "7d": 168, "30d": 720 }

const ofPercentile = (ms: number | undefined) => (ms === undefined ? "–" : formatDuration(ms))

/**
 * Shows how many of a task's runs succeeded in a period, how long they took, and how late they
 * started.
 */
export const SuccessSection = ({
  resource,
  showsLateness = false,
  task: { created_at: createdAt, id: taskId }
}: {
  readonly task: { readonly id: string; readonly created_at: string }
  readonly resource: MeasuredResource
  readonly showsLateness?: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const [period, setPeriod] = useState<UptimePeriod>("30d")
  const { data, error, refetch } = useQuery({
    queryKey: executionQueries.statsKey(workspaceId, { task_id: taskId, period }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
    queryFn: async ({ signal }) => {
      const [total, series] = await Promise.all([
        resource.uptime(taskId, { period }, { signal }),
        resource.series(taskId, { period }, { signal })
      ])
      return { total, series }
    }
  })
  const { duration_ms: durations = null, failed = 0, succeeded = 0 } = data?.total ?? {}
  const hours = recentHours[period]
  return (
    <Section
      title="Statistics"
      actions={
        <RadioButtons label="Period" value={period} options={uptimePeriods} onChange={setPeriod} />
      }
    >
      <div className="flex flex-col gap-3">
        <Problem error={error} retry={refetch} />
        {(error === null || data !== undefined) && (
          <FigureCards>
            <FigureCard
              name="Success rate"
              note="excluding skipped and cancelled runs"
              value={
                data &&
                (data.total.success_rate === null ? "–" : formatPercent(data.total.success_rate))
              }
            />
            <FigureCard
              name="Runs"
              note={data && `${formatCount(failed)} failed`}
              value={data && formatCount(succeeded + failed)}
            />
            <FigureCard
              name="Median duration"
              note={
                durations === null ? "of the finished runs" : `p95 ${formatDuration(durations.p95)}`
              }
              value={data && ofPercentile(durations?.p50)}
            />
            {showsLateness && hours !== undefined && <Lateness taskId={taskId} hours={hours} />}
          </FigureCards>
        )}
        {data === undefined && error === null && <Skeleton className="h-96" />}
        {data !== undefined && succeeded + failed > 0 && (
          <Charts
            series={data.series}
            taskId={taskId}
            createdAt={createdAt}
            hasDurations={durations !== null}
          />
        )}
      </div>
    </Section>
  )
}

/** How late the runs in the last hours started. */
const Lateness = ({ hours, taskId }: { readonly taskId: string; readonly hours: number }) => {
  const { workspaceId } = useWorkspace()
  const hour = Math.floor(useNow(60_000) / hourMs)
  const from = new Date((hour - hours) * hourMs).toISOString()
  const { data, error } = useQuery({
    ...executionQueries.stats(workspaceId, { task_id: taskId, from }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000
  })
  const late = data?.totals.lateness_ms
  return (
    <FigureCard
      name="Median lateness"
      note={
        error !== null
          ? messageOf(error)
          : late
            ? `p95 ${formatDuration(late.p95)}`
            : "of the started runs"
      }
      value={data === undefined && error === null ? undefined : ofPercentile(late?.p50)}
    />
  )
}

const Charts = ({
  createdAt,
  hasDurations,
  series,
  taskId
}: {
  readonly createdAt: string
  readonly series: TaskUptimeSeries
  readonly taskId: string
  readonly hasDurations: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const { buckets, note } = bucketsSince(createdAt, series.buckets, hasNoRuns)
  return (
    <>
      {series.period === "365d" ? (
        <YearCalendar buckets={series.buckets} />
      ) : (
        <ExecutionBars
          bars={barsOfSeries({ ...series, buckets })}
          note={note === undefined ? "Runs" : `Runs. ${note}`}
          period={{}}
          onPeriod={({ from, to }) =>
            void navigate({
              to: "/w/$workspaceId/executions",
              params: { workspaceId },
              search: {
                task_id: taskId,
                ...(from !== undefined && { from }),
                ...(to !== undefined && { to })
              }
            })
          }
        />
      )}
      {hasDurations && (
        <DurationChart
          name="Duration"
          problemName="With failures"
          note={note}
          bucketSeconds={series.bucket_seconds}
          buckets={buckets.map((bucket) => ({
            start: bucket.start,
            ms: bucket.duration_ms,
            problem: bucket.failed === 0 ? undefined : `${formatCount(bucket.failed)} failed`
          }))}
        />
      )}
    </>
  )
}

const hasNoRuns = ({
  cancelled,
  failed,
  skipped,
  succeeded
}: TaskUptimeSeries["buckets"][number]) => succeeded + failed + cancelled + skipped === 0
