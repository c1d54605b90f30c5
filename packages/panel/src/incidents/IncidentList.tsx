import type { Incident } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { useNow } from "../ui/values/clock.ts"
import { duration } from "../ui/values/format.ts"
import { type Column, List, rowLink } from "../ui/lists/List.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Message } from "../ui/values/Message.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { At } from "../ui/values/Time.tsx"
import { MonitorName } from "./MonitorName.tsx"
import { incidentListOptions } from "./queries.ts"
import type { IncidentSearch } from "./search.ts"

/** Incidents, the newest first. */
export const IncidentList = ({
  empty,
  search
}: {
  readonly search: IncidentSearch
  readonly empty: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const { error, refetch, ...list } = useList(incidentListOptions(workspaceId, search))
  return error === null ? (
    <List {...list} label="Incidents" columns={columns} keyOf={({ id }) => id} empty={empty} />
  ) : (
    <Problem error={error} retry={refetch} />
  )
}

/** How long it went on, or goes on already. */
export const Lasted = ({
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
  closed_at === null ? (
    <Status of="down" tone={acknowledged_at === null ? "bad" : "warn"}>
      {acknowledged_at === null ? "Open" : "Acknowledged"}
    </Status>
  ) : (
    <Status of="over">Resolved</Status>
  )

const columns: ReadonlyArray<Column<Incident>> = [
  {
    key: "status",
    head: "Status",
    className: "w-32 shrink-0",
    cell: (incident) => <IncidentStatus incident={incident} />
  },
  {
    key: "what",
    head: "Monitor",
    className: "grow basis-0",
    cell: ({ cause, id, monitor_id, workspace_id }) => (
      <>
        <Link
          to="/w/$workspaceId/incidents/$incidentId"
          params={{ workspaceId: workspace_id, incidentId: id }}
          className={`block truncate font-medium ${rowLink}`}
        >
          <MonitorName monitorId={monitor_id} />
        </Link>
        <span className="block truncate text-xs text-faint">
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
    head: "Began",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: ({ opened_at }) => <At at={opened_at} />
  },
  {
    key: "lasted",
    head: "Lasted",
    className: "w-20 shrink-0 text-right",
    cell: (incident) => <Lasted incident={incident} />
  }
]
