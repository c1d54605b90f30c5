import { useQuery } from "@tanstack/react-query"
import { Link, useRouter } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight, Minus, Plus } from "lucide-react"
import type { Incident, Monitor } from "@scheduling/sdk"
import { type ReactNode, useMemo, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useMemberNames } from "../data/names.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Checkbox } from "../ui/forms/Field.tsx"
import { Card, EmptyState, Page, Skeleton } from "../ui/layout/Page.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { Problem } from "../ui/messages/Problem.tsx"
import { useHasRole } from "../ui/role.tsx"
import { now } from "../ui/values/clock.ts"
import { formatShortDateTime } from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { allWorkersOptions } from "../workers/queries.ts"
import { describePause, pauseBetween } from "./describeLane.ts"
import { hasProblemBetween, type Lane, lanesOf } from "./lanes.ts"
import {
  allMonitorsOptions,
  allQueuesOptions,
  failingTaskIdsOptions,
  latestChangesOptions,
  latestDeliveriesOptions,
  latestIncidentsOptions,
  timelineOptions
} from "./queries.ts"
import { timelineSearch } from "./search.ts"
import { type SelectedPeriod, TimelineCanvas } from "./TimelineCanvas.tsx"
import { TimelineTable } from "./TimelineTable.tsx"
import { clampView, fetchedPeriod, panBy, type View, viewOfSpan, zoomBy } from "./view.ts"

const hourMs = 3_600_000
const spans = [
  ["1 hour", hourMs],
  ["24 hours", 24 * hourMs],
  ["7 days", 168 * hourMs],
  ["All", 37 * 24 * hourMs]
] as const

export const TimelinePage = () => {
  const { workspaceId } = useWorkspace()
  const { history } = useRouter()
  const { filter, search } = useFilters(timelineSearch)
  const [start] = useState(now)
  const view = useMemo(() => viewOf(search, start), [search.from, search.to, start])
  const setView = ({ from, to }: View) =>
    filter({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })
  const [brush, setBrush] = useState<SelectedPeriod>()
  const [isTable, setIsTable] = useState(false)
  const [isChosen, setIsChosen] = useState(false)
  const { error, lanes, refetch, timeline } = useLanes(view, isChosen)
  const isFiltered = search.only === "problems"
  const shown = useMemo(
    () =>
      isFiltered ? lanes?.filter((lane) => hasProblemBetween(lane, view.from, view.to)) : lanes,
    [lanes, view, isFiltered]
  )
  const middle = (view.from + view.to) / 2
  const open = ({ path }: Lane) => {
    if (path !== undefined) history.push(`/w/${workspaceId}${path}`)
  }
  return (
    <Page
      title="Timeline"
      description="What ran, what failed, what changed and what comes next."
      actions={
        <>
          <Button
            size="small"
            aria-label="Earlier"
            icon={<ChevronLeft />}
            onClick={() => setView(panBy(view, -0.5, now()))}
          />
          <Button
            size="small"
            aria-label="Later"
            icon={<ChevronRight />}
            onClick={() => setView(panBy(view, 0.5, now()))}
          />
          <Button
            size="small"
            aria-label="Zoom in"
            icon={<Plus />}
            onClick={() => setView(zoomBy(view, 0.5, middle, now()))}
          />
          <Button
            size="small"
            aria-label="Zoom out"
            icon={<Minus />}
            onClick={() => setView(zoomBy(view, 2, middle, now()))}
          />
          {spans.map(([name, span]) => (
            <Button key={name} size="small" onClick={() => setView(viewOfSpan(span, now()))}>
              {name}
            </Button>
          ))}
        </>
      }
    >
      <Problem error={error} retry={refetch} />
      {lanes === undefined || shown === undefined || timeline === undefined ? (
        error === null && <Skeleton className="h-96" />
      ) : lanes.length === 0 ? (
        <EmptyState title="Nothing has happened yet">
          The timeline shows the runs of tasks, the incidents of monitors, and what changed.
        </EmptyState>
      ) : (
        <>
          <Checkbox
            className="mb-3 w-fit text-sm"
            checked={isFiltered}
            onChange={({ target }) => filter({ only: target.checked ? "problems" : undefined })}
          >
            Problems only
          </Checkbox>
          <Card className="overflow-hidden">
            {shown.length === 0 && (
              <p className="px-4 py-3 text-soft">
                In this period, no run failed and no incident was open.
              </p>
            )}
            <TimelineCanvas
              lanes={shown}
              view={view}
              onView={setView}
              brush={brush}
              onBrush={setBrush}
              onOpen={open}
              onChoose={setIsChosen}
            />
          </Card>
          <Legend />
          {brush !== undefined && (
            <Selection brush={brush} onZoom={setView} onClear={() => setBrush(undefined)} />
          )}
          <Notes {...timeline} />
          <details
            className="mt-4"
            open={isTable}
            onToggle={({ currentTarget }) => setIsTable(currentTarget.open)}
          >
            <summary className="w-fit text-sm text-soft pointer-coarse:py-2.5">
              Show as a table
            </summary>
            {isTable && <TimelineTable lanes={shown} view={view} />}
          </details>
        </>
      )}
    </Page>
  )
}

const viewOf = (search: ReturnType<typeof timelineSearch>, at: number): View => {
  const [from, to] = [search.from, search.to].map((time) => Date.parse(time ?? ""))
  return from !== undefined && to !== undefined && from < to
    ? clampView({ from, to }, at)
    : viewOfSpan(24 * hourMs, at)
}

const useLanes = (view: View, isChosen: boolean) => {
  const { workspaceId } = useWorkspace()
  const isAdmin = useHasRole()("admin")
  const timeline = useQuery(timelineOptions(workspaceId, fetchedPeriod(view, now())))
  const monitors = useQuery(allMonitorsOptions(workspaceId))
  const incidents = useQuery(latestIncidentsOptions(workspaceId))
  const queues = useQuery(allQueuesOptions(workspaceId))
  const workers = useQuery(allWorkersOptions(workspaceId))
  const deliveries = useQuery(latestDeliveriesOptions(workspaceId))
  const changes = useQuery({ ...latestChangesOptions(workspaceId), enabled: isAdmin })
  const failing = useQuery(failingTaskIdsOptions(workspaceId))
  const names = useMemberNames(workspaceId)
  const currentProblems = useMemo(
    () => problemsOf(failing.data ?? [], monitors.data ?? [], incidents.data ?? []),
    [failing.data, monitors.data, incidents.data]
  )
  const problems = useHeld(currentProblems, isChosen)
  const lanes = useMemo(
    () =>
      timeline.data &&
      lanesOf({
        timeline: timeline.data,
        monitors: monitors.data ?? [],
        incidents: incidents.data ?? [],
        queues: queues.data ?? [],
        workers: workers.data ?? [],
        deliveries: deliveries.data ?? [],
        changes: changes.data ?? [],
        problems,
        names
      }),
    [
      timeline.data,
      monitors.data,
      incidents.data,
      queues.data,
      workers.data,
      deliveries.data,
      changes.data,
      problems,
      names
    ]
  )
  // A lane without marks would look as if nothing had happened, so the first query error is shown.
  const failed = [
    timeline,
    monitors,
    incidents,
    queues,
    workers,
    deliveries,
    changes,
    failing
  ].find(({ error, isEnabled }) => isEnabled && error !== null)
  return {
    lanes,
    timeline: timeline.data,
    error: failed?.error ?? null,
    refetch: failed?.refetch ?? timeline.refetch
  }
}

/** Returns the ids of the records that have a problem now. */
const problemsOf = (
  failing: ReadonlyArray<string>,
  monitors: ReadonlyArray<Monitor>,
  incidents: ReadonlyArray<Incident>
): ReadonlySet<string> =>
  new Set([
    ...failing,
    ...monitors.filter(({ status }) => status === "down" || status === "late").map(({ id }) => id),
    ...incidents.filter(({ closed_at }) => closed_at === null).map(({ subject }) => subject.id)
  ])

/** Keeps the last value while it is held, so that lanes do not move away from the pointer. */
const useHeld = <Value,>(value: Value, isHeld: boolean): Value => {
  const [last, setLast] = useState(value)
  if (!isHeld && last !== value) setLast(value)
  return isHeld ? last : value
}

const Legend = () => (
  <div role="group" aria-label="Legend" className="mt-3 flex flex-col gap-y-2 text-xs text-faint">
    <LegendRow name="Runs (the more, the higher):">
      <LegendKey className="bg-ok" name="Succeeded" />
      <LegendKey className="bg-bad" name="Failed" />
      <LegendKey className="bg-live" name="Queued or running" />
      <LegendKey className="bg-faint" name="Cancelled or skipped" />
      <LegendKey className="bg-edge" name="Planned" />
    </LegendRow>
    <LegendRow name="Also in a lane:">
      <LegendKey
        className="h-1.5 w-1.5 rounded-full bg-bad"
        name="Failing or down now, beside the name"
      />
      <LegendKey className="h-1 bg-bad" name="Incident, at the bottom" />
      <LegendKey className="w-[3px] bg-ink" name="Change, at the top" />
      <LegendKey className="w-[3px] bg-warn" name="Notification, at the top" />
      <LegendKey className={hatched} name="Paused" />
      <LegendKey className="border border-live/50 bg-live/15" name="Selected period" />
    </LegendRow>
  </div>
)

const hatched =
  "bg-[repeating-linear-gradient(-45deg,var(--color-edge)_0_1px,transparent_1px_3px)] border border-line"

const LegendRow = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="flex flex-wrap gap-x-5 gap-y-1">
    <span>{name}</span>
    {children}
  </div>
)

const Notes = ({
  complete_from,
  from,
  has_all_lanes,
  has_all_plans
}: {
  readonly complete_from: string
  readonly from: string
  readonly has_all_lanes: boolean
  readonly has_all_plans: boolean
}) => {
  const notes = [
    complete_from > from &&
      `There are too many runs before ${formatShortDateTime(complete_from)} to show in this period. Zoom in to see them.`,
    !has_all_lanes && "Only the 500 newest tasks have a lane of their own.",
    !has_all_plans && "Not all planned runs are shown. Zoom in to see more."
  ].filter((note) => note !== false)
  return notes.length > 0 && <p className="mt-2 text-sm text-faint">{notes.join(" ")}</p>
}

const link = "font-medium text-live hover:underline"

const Selection = ({
  brush: { from, lane, to },
  onClear,
  onZoom
}: {
  readonly brush: SelectedPeriod
  readonly onZoom: (view: View) => void
  readonly onClear: () => void
}) => {
  const { workspaceId } = useWorkspace()
  const isAdmin = useHasRole()("admin")
  const params = { workspaceId }
  const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const taskId = lane?.taskId
  const pause = lane && pauseBetween(lane, from, to)
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-5 gap-y-2 text-sm">
      <span className="nums">
        {lane !== undefined && `${lane.name}, `}
        {formatShortDateTime(from)} to {formatShortDateTime(to)}
      </span>
      {pause !== undefined && <span>Paused {describePause(pause)}</span>}
      <Link
        to="/w/$workspaceId/executions"
        params={params}
        search={{ ...period, ...(taskId !== undefined && { task_id: taskId }) }}
        className={link}
      >
        Executions
      </Link>
      <Link to="/w/$workspaceId/incidents" params={params} search={period} className={link}>
        Incidents
      </Link>
      {isAdmin && (
        <Link
          to="/w/$workspaceId/audit"
          params={params}
          search={{ from: localDay(from), to: localDay(to) }}
          className={link}
        >
          Audit log
        </Link>
      )}
      <Button size="small" onClick={() => onZoom({ from, to })}>
        Zoom to the selection
      </Button>
      <Button size="small" look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}

const localDay = (at: number) => {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, "0")
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
