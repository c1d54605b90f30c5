import type { Incident, Monitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { incidentsOfMonitorOptions } from "../incidents/queries.ts"
import { classes } from "../ui/classes.ts"
import { useNow } from "../ui/values/clock.ts"
import {
  formatDay,
  formatDuration,
  formatPercent,
  formatShortDateTime
} from "../ui/values/format.ts"
import { Card, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import {
  type DayOfHistory,
  dailyHistory,
  latestOfNowAndIncidents,
  type OldestResult,
  uptimeFraction,
  monitoringStartOf
} from "./history.ts"

const mostDays = 90

interface Props {
  readonly monitor: Pick<Monitor, "created_at" | "id" | "last_change_at" | "status">
  readonly oldest: OldestResult | undefined
}

const lasts = ({ closed_at }: Pick<Incident, "closed_at">, from: number) =>
  closed_at === null || Date.parse(closed_at) > from

export const MonitorHistory = ({ monitor, oldest }: Props) => {
  const { workspaceId } = useWorkspace()
  const tick = useNow(5_000)
  const { data, dataUpdatedAt, error, refetch } = useQuery(
    incidentsOfMonitorOptions(workspaceId, monitor.id)
  )
  if (error !== null && data === undefined) return <Problem error={error} retry={refetch} />
  if (data === undefined || oldest === undefined) return <Skeleton className="h-28" />
  const now = latestOfNowAndIncidents(data.incidents, Math.max(tick, dataUpdatedAt))
  const watched = monitoringStartOf(monitor, data.incidents, oldest)
  if (watched === undefined) return null
  // Incidents that closed before this period have been deleted, so the status of earlier days is
  // unknown.
  const shownDays = Math.min(data.keptDays, mostDays)
  const days = dailyHistory(data.incidents, watched, now, shownDays)
  const first = days[0]?.at ?? now
  const from = Math.max(first, watched.from)
  const share = formatPercent(uptimeFraction(data.incidents, from, now))
  const count = data.incidents.filter((incident) => lasts(incident, first)).length
  const incidents = count === 1 ? "1 incident" : `${count} incidents`
  return (
    <Section title={shownDays === 1 ? "Last day" : `Last ${shownDays} days`}>
      <Card className="p-5">
        <p className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4">
          <span>
            <b className="font-semibold nums">{share}</b> up
            {from > first && (
              <span className="text-sm text-faint"> since {formatShortDateTime(from)}</span>
            )}
          </span>
          <span className="text-sm text-faint">{count === 0 ? "No incidents" : incidents}</span>
        </p>
        <div
          role="img"
          aria-label={`Up ${share} of the time, ${incidents} in ${shownDays} days`}
          className="flex h-9 gap-px sm:gap-[2px]"
        >
          {days.map((day) => (
            <Day key={day.at} day={day} />
          ))}
        </div>
        <p className="mt-2 flex justify-between text-xs text-faint">
          <span>{formatDay(first)}</span>
          <span>Today</span>
        </p>
        {data.keptDays < mostDays && (
          <p className="mt-2 text-xs text-faint">
            This server keeps incidents for {shownDays} days.
          </p>
        )}
      </Card>
    </Section>
  )
}

const Day = ({ day: { at, downMs, known } }: { readonly day: DayOfHistory }) => {
  const text = downMs > 0 ? `down for ${formatDuration(downMs)}` : words[known]
  return (
    <span
      title={`${formatDay(at)}: ${text}`}
      className={classes(
        "min-w-0 grow basis-0 rounded-[2px] transition-opacity duration-100 hover:opacity-70",
        downMs > 0 ? "bg-bad" : looks[known]
      )}
    />
  )
}

const words = {
  watched: "up",
  "no incident": "no incident",
  "not monitored": "not monitored yet"
} as const

const looks = { watched: "bg-ok", "no incident": "bg-edge", "not monitored": "bg-sunken" } as const
