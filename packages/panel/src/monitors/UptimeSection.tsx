import type { Monitor, MonitorId, UptimePeriod } from "@scheduling/sdk"
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { clientOf, useWorkspace } from "../data/client.ts"
import { uptimePeriods } from "../data/uptimePeriods.ts"
import { bucketsSince } from "../ui/charts/bucketsSince.ts"
import { DurationChart } from "../ui/charts/DurationChart.tsx"
import { RadioButtons } from "../ui/forms/Field.tsx"
import { FigureCard, FigureCards } from "../ui/layout/FigureCard.tsx"
import { Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { formatDuration, formatPercent } from "../ui/values/format.ts"

type Workspace = Parameters<typeof clientOf>[0]

const uptimeOptions = (workspaceId: Workspace, id: MonitorId, period: UptimePeriod) =>
  queryOptions({
    queryKey: ["w", workspaceId, "monitors", id, "uptime", period],
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
    queryFn: async ({ signal }) => {
      const { monitors } = clientOf(workspaceId)
      const [total, series] = await Promise.all([
        monitors.uptime(id, { period }, { signal }),
        monitors.series(id, { period }, { signal })
      ])
      return { total, series }
    }
  })

/** Shows a monitor's uptime in a period and the latency of its checks. */
export const UptimeSection = ({
  monitor: { created_at: createdAt, id }
}: {
  readonly monitor: Pick<Monitor, "created_at" | "id">
}) => {
  const { workspaceId } = useWorkspace()
  const [period, setPeriod] = useState<UptimePeriod>("24h")
  const { data, error, refetch } = useQuery(uptimeOptions(workspaceId, id, period))
  if (error !== null && data === undefined) return <Problem error={error} retry={refetch} />
  const latency = data?.total.latency_ms ?? null
  const { buckets, note } = bucketsSince(
    createdAt,
    data?.series.buckets ?? [],
    ({ latency_ms }) => latency_ms === null
  )
  return (
    <Section
      title="Uptime"
      actions={
        <RadioButtons label="Period" value={period} options={uptimePeriods} onChange={setPeriod} />
      }
    >
      <div className="flex flex-col gap-3">
        <FigureCards>
          <FigureCard
            name="Uptime"
            value={data && (data.total.uptime === null ? "–" : formatPercent(data.total.uptime))}
          />
          <FigureCard
            name="Downtime"
            value={
              data &&
              (data.total.down_seconds === 0
                ? "None"
                : formatDuration(data.total.down_seconds * 1_000))
            }
          />
          {latency !== null && (
            <FigureCard
              name="Median latency"
              note={`p95 ${formatDuration(latency.p95)}`}
              value={formatDuration(latency.p50)}
            />
          )}
        </FigureCards>
        {data !== undefined && latency !== null && (
          <DurationChart
            name="Latency"
            problemName="With downtime"
            note={note}
            bucketSeconds={data.series.bucket_seconds}
            buckets={buckets.map(({ down_seconds, latency_ms, start }) => ({
              start,
              ms: latency_ms,
              problem:
                down_seconds === 0 ? undefined : `down for ${formatDuration(down_seconds * 1_000)}`
            }))}
          />
        )}
      </div>
    </Section>
  )
}
