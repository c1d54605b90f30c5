import type { Incident } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { describeKind } from "../data/targets.ts"
import { type Column, List, rowTitleClass, rowDetailClass } from "../ui/lists/List.tsx"
import { useNow } from "../ui/values/clock.ts"
import { formatDuration } from "../ui/values/format.ts"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { Status } from "../ui/values/Status.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { incidentListOptions, type IncidentSearch } from "./queries.ts"

export const IncidentList = ({
  empty,
  search,
  showsSubject = false
}: {
  readonly search: IncidentSearch
  readonly empty: ReactNode
  /** True if the incidents are of several tasks and monitors. */
  readonly showsSubject?: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const list = useList(incidentListOptions(workspaceId, search))
  return (
    <List
      {...list}
      label="Incidents"
      columns={showsSubject ? columnsWithSubject : columns}
      empty={empty}
    />
  )
}

/** Shows an incident's duration, up to now if it is still open. */
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
      {lastedMs < 1_000 ? "Under 1 s" : formatDuration(lastedMs)}
    </span>
  )
}

export const IncidentStatus = ({
  incident: { status, suppressed }
}: {
  readonly incident: Pick<Incident, "status" | "suppressed">
}) =>
  status === "closed" ? (
    <Status of="closed" />
  ) : suppressed ? (
    <Status of="suppressed" />
  ) : (
    <Status of={status} tone={status === "acknowledged" ? "warn" : "bad"} />
  )

const linkTo = ({ id, workspace_id }: Incident) => ({
  to: "/w/$workspaceId/incidents/$incidentId" as const,
  params: { workspaceId: workspace_id, incidentId: id }
})

const statusColumn: Column<Incident> = {
  key: "status",
  head: "Status",
  className: "w-32 shrink-0",
  belowOnPhone: "plain",
  cell: (incident) => <IncidentStatus incident={incident} />
}

const timeColumns: ReadonlyArray<Column<Incident>> = [
  {
    key: "opened",
    head: "Opened",
    className: "w-28 shrink-0",
    belowOnPhone: "plain",
    cell: ({ opened_at }) => <ShortTime at={opened_at} />
  },
  {
    key: "duration",
    head: "Duration",
    className: "w-20 shrink-0 text-right",
    cell: (incident) => <IncidentDuration incident={incident} />
  }
]

/** The columns for the incidents of one task or monitor. */
const columns: ReadonlyArray<Column<Incident>> = [
  statusColumn,
  {
    key: "reason",
    head: "Reason",
    className: "grow basis-0",
    cell: (incident) => (
      <Link {...linkTo(incident)} className={rowTitleClass} title={incident.cause.message}>
        <ApiMessage text={incident.cause.message} />
      </Link>
    )
  },
  ...timeColumns
]

const columnsWithSubject: ReadonlyArray<Column<Incident>> = [
  statusColumn,
  {
    key: "subject",
    head: "Task or monitor",
    className: "grow basis-0",
    cell: (incident) => (
      <>
        <Link {...linkTo(incident)} className={rowTitleClass}>
          {stripDirectionMarks(incident.subject.name)}
        </Link>
        <span className={rowDetailClass}>
          <ApiMessage text={incident.cause.message} />
        </span>
      </>
    )
  },
  {
    key: "kind",
    head: "Kind",
    className: "w-36 shrink-0 truncate max-lg:hidden",
    cell: ({ subject }) => <span className="text-soft">{describeKind(subject.kind)}</span>
  },
  ...timeColumns
]
