import type { MonitorId, MonitorSeries, UptimePeriod } from "@scheduling/sdk"
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { clientOf, useWorkspace } from "../data/client.ts"
import { Choice } from "../ui/forms/Field.tsx"
import { Figure, Figures } from "../ui/layout/Figure.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { duration, percent, shortDateTime } from "../ui/values/format.ts"

const periods = [
  ["24h", "24h"],
  ["7d", "7d"],
  ["30d", "30d"],
  ["90d", "90d"],
  ["365d", "1y"]
] as const

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

const ofMs = (ms: number | undefined) => (ms === undefined ? "–" : duration(ms))

/** Shows the uptime of a monitor in a period, and the latency of its checks. */
export const UptimeSection = ({ monitorId }: { readonly monitorId: MonitorId }) => {
  const { workspaceId } = useWorkspace()
  const [period, setPeriod] = useState<UptimePeriod>("24h")
  const { data, error } = useQuery(uptimeOptions(workspaceId, monitorId, period))
  if (error !== null) return <Problem error={error} />
  const { latency_ms: latency = null, checks = 0 } = data?.total ?? {}
  return (
    <Section
      title="Uptime"
      actions={<Choice label="Period" value={period} options={periods} onChange={setPeriod} />}
    >
      <div className="flex flex-col gap-3">
        <Figures>
          <Figure
            name="Uptime"
            value={data && (data.total.uptime === null ? "–" : percent(data.total.uptime))}
          />
          <Figure name="Downtime" value={data && duration(data.total.down_seconds * 1_000)} />
          {checks > 0 && <Figure name="Latency, median" value={ofMs(latency?.p50)} />}
          {checks > 0 && <Figure name="Latency, p95" value={ofMs(latency?.p95)} />}
        </Figures>
        {data !== undefined && latency !== null && <LatencyChart series={data.series} />}
      </div>
    </Section>
  )
}

const width = 720
const height = 120

/** A chart of the median and the 95th percentile of the latency, with outages in the background. */
const LatencyChart = ({ series: { buckets } }: { readonly series: MonitorSeries }) => {
  const top = Math.max(...buckets.map(({ latency_ms }) => latency_ms?.p95 ?? 0), 1)
  const xOf = (index: number) => (index / buckets.length) * width
  const yOf = (ms: number) => height - (ms / top) * (height - 8)
  const line = (name: "p50" | "p95") =>
    buckets
      .map(({ latency_ms }, index) =>
        latency_ms === null
          ? ""
          : `${index === 0 || buckets[index - 1]?.latency_ms == null ? "M" : "L"}${xOf(index).toFixed(1)},${yOf(latency_ms[name]).toFixed(1)}h${(width / buckets.length).toFixed(1)}`
      )
      .join("")
  const first = buckets[0]?.start
  return (
    <Card className="p-5">
      <p className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4 text-sm text-faint">
        <span>
          Latency: <span className="text-live">median</span> and 95th percentile
        </span>
        <span className="nums">up to {duration(top)}</span>
      </p>
      <svg
        role="img"
        aria-label={`Latency over time, up to ${duration(top)}`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="block h-32 w-full"
      >
        {buckets.map(({ down_seconds, start }, index) =>
          down_seconds === 0 ? null : (
            <rect
              key={start}
              x={xOf(index)}
              width={width / buckets.length}
              height={height}
              className="fill-bad/25"
            >
              <title>{`Down for ${duration(down_seconds * 1_000)}`}</title>
            </rect>
          )
        )}
        <path
          d={line("p95")}
          fill="none"
          vectorEffect="non-scaling-stroke"
          className="stroke-edge"
          strokeWidth={1.5}
        />
        <path
          d={line("p50")}
          fill="none"
          vectorEffect="non-scaling-stroke"
          className="stroke-live"
          strokeWidth={2}
        />
      </svg>
      <p className="mt-2 flex justify-between text-xs text-faint">
        <span>{first === undefined ? "" : shortDateTime(Date.parse(first))}</span>
        <span>Now</span>
      </p>
    </Card>
  )
}
