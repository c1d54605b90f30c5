import type { Incident } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { useList } from "../data/queries.ts"
import { channelsOptions } from "../notifications/queries.ts"
import { queueQueries } from "../queues/queries.ts"
import { Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useNow } from "../ui/values/clock.ts"
import { roundedDuration } from "../ui/values/format.ts"
import { StatusDot, type Tone } from "../ui/values/Status.tsx"
import { allWorkersOptions, pollWorkersMs } from "../workers/queries.ts"
import { failingTasksOptions, latestFailuresSearch, maxFailingTasks } from "./prefetchOverview.ts"
import { problemsOf } from "./problems.ts"

interface Part {
  readonly text: string
  readonly tone: Tone
  readonly to: "executions" | "incidents" | "notifications" | "queues" | "workers"
}

/** The workspace's state in one line: what is wrong now, and where to look. */
export const WorkspaceState = ({
  hasRun
}: {
  /** True if anything ran in the last 24 hours. */
  readonly hasRun: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const failing = useQuery(failingTasksOptions(workspaceId))
  const incidents = useQuery(openIncidentsOptions(workspaceId))
  const { error, parts: otherParts, refetch } = useOtherParts()
  // The list of current problems shows the errors of these queries.
  if (failing.data === undefined || incidents.data === undefined) {
    return failing.error === null && incidents.error === null && <Skeleton className="h-6 w-64" />
  }
  const { data: open, hasMore } = incidents.data
  // A failing task with an open incident is counted once.
  const others = problemsOf(failing.data, open).filter(({ incident }) => incident === undefined)
  const isPartly = failing.data.length === maxFailingTasks
  const parts = [
    ...partOf("bad", "incidents", open.length, (count) =>
      hasMore ? `${count} or more open incidents` : describeIncidents(open)
    ),
    ...partOf("bad", "executions", others.length, (count) => {
      const number = `${count}${isPartly ? " or more" : ""}${open.length === 0 ? "" : " other"}`
      return count === 1 && !isPartly ? `${number} task is failing` : `${number} tasks are failing`
    }),
    ...otherParts
  ]
  if (error !== null && parts.length === 0) return <Problem error={error} retry={refetch} />
  return (
    <ul
      aria-label="State of the workspace"
      className="flex min-h-6 flex-wrap items-center gap-x-5 gap-y-1"
    >
      {parts.length === 0 && (
        <li className="flex items-center gap-2">
          <StatusDot tone={hasRun ? "ok" : "none"} />
          No problems right now.
        </li>
      )}
      {parts.map(({ text, to, tone }) => (
        <li key={to}>
          <Link
            to={`/w/$workspaceId/${to}`}
            params={{ workspaceId }}
            search={to === "executions" ? latestFailuresSearch : {}}
            className="flex items-center gap-2 hover:underline"
          >
            <StatusDot tone={tone} />
            {text}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Returns text such as `3 open incidents (2 tasks, 1 monitor)`. */
const describeIncidents = (open: ReadonlyArray<Incident>): string => {
  const ofTasks = open.filter(({ subject: { kind } }) => kind === "cron" || kind === "chain").length
  const subjects = [counted(ofTasks, "task"), counted(open.length - ofTasks, "monitor")].filter(
    (text) => text !== undefined
  )
  return `${counted(open.length, "open incident")} (${subjects.join(", ")})`
}

const counted = (count: number, noun: string): string | undefined =>
  count === 0 ? undefined : `${count} ${noun}${count === 1 ? "" : "s"}`

const partOf = (
  tone: Tone,
  to: Part["to"],
  count: number,
  text: (count: number) => string
): ReadonlyArray<Part> => (count === 0 ? [] : [{ text: text(count), tone, to }])

/** Returns the messages about failing channels, offline workers and full queues. */
const useOtherParts = () => {
  const { workspaceId } = useWorkspace()
  const channels = useQuery(channelsOptions(workspaceId))
  const workers = useQuery({
    ...allWorkersOptions(workspaceId),
    refetchInterval: pollWorkersMs
  })
  const queues = useList({
    ...queueQueries.list(workspaceId),
    refetchInterval: pollWorkersMs
  })
  const broken = (channels.data ?? []).filter(
    ({ last_delivery, paused, paused_reason }) =>
      paused_reason !== null || (!paused && last_delivery?.delivered === false)
  )
  const away = (workers.data ?? []).filter(({ status }) => status === "offline")
  const now = useNow()
  const waiting = queues.rows.map(({ waiting_since }) => waiting_since).filter((at) => at !== null)
  const parts = [
    ...partOf("bad", "notifications", broken.length, (count) =>
      count === 1 ? "1 channel does not deliver" : `${count} channels do not deliver`
    ),
    ...partOf("bad", "workers", away.length, (count) =>
      count === 1 ? "1 worker is offline" : `${count} workers are offline`
    ),
    ...partOf("warn", "queues", waiting.length, (count) => {
      const longest = roundedDuration(Math.max(0, ...waiting.map((at) => now - Date.parse(at))))
      return `Runs wait in ${count} ${count === 1 ? "queue" : "queues"}, the longest for ${longest}`
    })
  ]
  // If one of these queries failed, the page must not say that nothing is wrong.
  const failed = [channels, workers, queues].find(({ error }) => error !== null)
  return { parts, error: failed?.error ?? null, refetch: failed?.refetch }
}
