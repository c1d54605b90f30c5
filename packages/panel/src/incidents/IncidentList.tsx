import type { Incident, MonitorId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { monitorNames } from "../data/names.ts"
import { useList } from "../data/queries.ts"
import { Skeleton } from "../ui/layout/Page.tsx"
import { type Column, List, rowTitle } from "../ui/lists/List.tsx"
import { useNow } from "../ui/values/clock.ts"
import { duration } from "../ui/values/format.ts"
import { Message } from "../ui/values/Message.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { At } from "../ui/values/Time.tsx"
import { incidentListOptions, type IncidentSearch } from "./queries.ts"

export const IncidentList = ({
  empty,
  search
}: {
  readonly search: IncidentSearch
  readonly empty: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const list = useList(incidentListOptions(workspaceId, search))
  return <List {...list} label="Incidents" columns={columns} empty={empty} />
}

export const MonitorName = ({ monitorId }: { readonly monitorId: MonitorId }) => {
  const { workspaceId } = useWorkspace()
  return (
    monitorNames.useName(workspaceId, monitorId) ?? <Skeleton className="inline-block h-4 w-32" />
  )
}

/** Shows the duration of an incident, up to now if it is still open. */
export const IncidentDuration = ({
  incident: { closed_at, opened_at }
}: {
  readonly incident: Pick<Incident, "closed_at" | "opened_at">
}) => {
  const now = useNow()
  const end = closed_at === null ? now : Date.parse(closed_at)
  const lastedMs = end - Date.parse(opened_at)
  return (
    <span className="nums whitespace-nowrap">
      {lastedMs < 1_000 ? "Under 1 s" : duration(lastedMs)}
    </span>
  )
}

export const IncidentStatus = ({
  incident: { acknowledged_at, closed_at }
}: {
  readonly incident: Pick<Incident, "acknowledged_at" | "closed_at">
}) =>
  closed_at !== null ? (
    <Status of="resolved" />
  ) : acknowledged_at !== null ? (
    <Status of="acknowledged" tone="warn" />
  ) : (
    <Status of="open" tone="bad" />
  )

const columns: ReadonlyArray<Column<Incident>> = [
  {
    key: "status",
    head: "Status",
    className: "w-32 shrink-0",
    cell: (incident) => <IncidentStatus incident={incident} />
  },
  {
    key: "monitor",
    head: "Monitor",
    className: "grow basis-0",
    cell: ({ cause, id, monitor_id, opened_at, workspace_id }) => (
      <>
        <Link
          to="/w/$workspaceId/incidents/$incidentId"
          params={{ workspaceId: workspace_id, incidentId: id }}
          className={rowTitle}
        >
          <MonitorName monitorId={monitor_id} />
        </Link>
        <span className="block truncate text-xs text-faint">
          <At at={opened_at} className="mr-1 sm:hidden" />
          <Message text={cause.message} />
        </span>
      </>
    )
  },
  {
    key: "code",
    head: "Cause",
    className: "w-32 shrink-0 max-lg:hidden",
    cell: ({ cause }) => <Badge>{cause.code.replaceAll("_", " ")}</Badge>
  },
  {
    key: "opened",
    head: "Opened",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: ({ opened_at }) => <At at={opened_at} />
  },
  {
    key: "duration",
    head: "Duration",
    className: "w-20 shrink-0 text-right",
    cell: (incident) => <IncidentDuration incident={incident} />
  }
]
