import type { Monitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { incidentsOfMonitorOptions } from "../incidents/queries.ts"
import { classes } from "../ui/classes.ts"
import { useNow } from "../ui/values/clock.ts"
import { dayOf, duration, percent } from "../ui/values/format.ts"
import { Card, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { type DayOfHistory, daysOf, upShare } from "./history.ts"

const shownDays = 90

/** The last days of a monitor, each with how long it was down. */
export const History = ({ monitor }: { readonly monitor: Pick<Monitor, "created_at" | "id"> }) => {
  const { workspaceId } = useWorkspace()
  const now = useNow(60_000)
  const { data, error } = useQuery(incidentsOfMonitorOptions(workspaceId, monitor.id))
  if (error !== null) return <Problem error={error} />
  if (data === undefined) return <Skeleton className="h-28" />
  const days = daysOf(data, Date.parse(monitor.created_at), now, shownDays)
  const from = Math.max(days[0]?.at ?? now, Date.parse(monitor.created_at))
  const share = percent(upShare(data, from, now))
  const incidents = data.length === 1 ? "1 incident" : `${data.length} incidents`
  return (
    <Section title={`Last ${shownDays} days`}>
      <Card className="p-5">
        <p className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4">
          <span>
            <b className="text-xl font-semibold nums">{share}</b> up
          </span>
          <span className="text-sm text-faint">
            {data.length === 0 ? "No incident" : incidents}
          </span>
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
          <span>{dayOf(days[0]?.at ?? now)}</span>
          <span>Today</span>
        </p>
      </Card>
    </Section>
  )
}

const Day = ({ day: { at, downMs, isKnown } }: { readonly day: DayOfHistory }) => {
  const text = !isKnown ? "not watched yet" : downMs === 0 ? "up" : `down for ${duration(downMs)}`
  return (
    <span
      title={`${dayOf(at)}: ${text}`}
      className={classes(
        "min-w-0 grow basis-0 rounded-[2px] transition-opacity duration-100 hover:opacity-70",
        !isKnown ? "bg-sunken" : downMs === 0 ? "bg-ok" : "bg-bad"
      )}
    />
  )
}
