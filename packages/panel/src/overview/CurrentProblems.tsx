import type { FailingTask, WorkspaceId } from "@scheduling/sdk"
import { useQueries, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import {
  type Definition,
  definitionOptions,
  describeKind,
  isTaskKind,
  taskOrMonitorLink
} from "../data/targets.ts"
import { IncidentStatus } from "../incidents/IncidentList.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { type Column, List, rowDetailClass, rowTitleClass } from "../ui/lists/List.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { StatusDot, Status } from "../ui/values/Status.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { RelativeTime } from "../ui/values/Time.tsx"
import { failingTasksOptions } from "./prefetchOverview.ts"
import { type CurrentProblem, describeFailure } from "./problems.ts"

/** The failing tasks and the open incidents, worst first. */
export const CurrentProblems = ({
  hasRun,
  problems
}: {
  readonly problems: ReadonlyArray<CurrentProblem>
  /** True if anything ran in the last 24 hours. */
  readonly hasRun: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const failing = useQuery(failingTasksOptions(workspaceId))
  const incidents = useQuery(openIncidentsOptions(workspaceId))
  const rows = useRows(problems)
  return (
    <Section title="Current problems">
      <List
        label="Current problems"
        columns={columns}
        rows={rows}
        error={failing.error ?? incidents.error}
        refetch={() => Promise.all([failing.refetch(), incidents.refetch()])}
        empty={
          <Card className="flex items-baseline gap-2.5 px-4 py-3.5 text-soft">
            <StatusDot tone={hasRun ? "ok" : "none"} />
            {hasRun
              ? "No incident is open, and the latest run of each task succeeded."
              : "No incident is open, and no task is failing. Nothing ran in the last 24 hours."}
          </Card>
        }
      />
    </Section>
  )
}

const ProblemStatus = ({ incident, kind }: CurrentProblem) =>
  incident === undefined || (incident.status === "open" && !incident.suppressed) ? (
    <Status of={isTaskKind(kind) ? "failing" : "down"} />
  ) : (
    <IncidentStatus incident={incident} />
  )

type Row = CurrentProblem & { readonly host: string | undefined }

/** Returns the problems. Monitors of the same kind and name get their host, to tell them apart. */
const useRows = (problems: ReadonlyArray<CurrentProblem>): ReadonlyArray<Row> => {
  const { workspaceId } = useWorkspace()
  const alike = problems.flatMap(({ id, kind, name }) =>
    !isTaskKind(kind) &&
    problems.some((other) => other.id !== id && other.kind === kind && other.name === name)
      ? [{ id, kind }]
      : []
  )
  const monitors = useQueries({
    queries: alike.map((subject) => definitionOptions(workspaceId, subject))
  })
  return problems.map((problem) => {
    const data = monitors[alike.findIndex(({ id }) => id === problem.id)]?.data
    return { ...problem, host: data && hostOf(data) }
  })
}

/** Returns the host that a monitor checks. Undefined if its kind checks none. */
const hostOf = (monitor: Definition): string | undefined => {
  if ("url" in monitor) return URL.canParse(monitor.url) ? new URL(monitor.url).host : monitor.url
  if ("port" in monitor) return `${monitor.host}:${monitor.port}`
  return "record_type" in monitor ? monitor.host : undefined
}

/** When the incident opened or, without an incident, when the task failed. */
const timeOf = ({ failing, incident }: CurrentProblem) =>
  incident?.opened_at ?? failing?.execution.finished_at ?? null

const executionLink = (workspaceId: WorkspaceId, failing: FailingTask | undefined) => ({
  to: "/w/$workspaceId/executions/$executionId" as const,
  params: { workspaceId, executionId: failing?.execution.id ?? "" }
})

/** A link to the incident or, if there is none, to the failed execution. */
const CauseLink = ({ failing, incident, name }: CurrentProblem) => {
  const { workspaceId } = useWorkspace()
  const to =
    incident === undefined
      ? executionLink(workspaceId, failing)
      : {
          to: "/w/$workspaceId/incidents/$incidentId" as const,
          params: { workspaceId, incidentId: incident.id }
        }
  return (
    <Link {...to} className={rowTitleClass}>
      {stripDirectionMarks(name)}
    </Link>
  )
}

const reasonOf = ({ failing, incident }: CurrentProblem): string =>
  failing === undefined ? (incident?.cause.message ?? "") : describeFailure(failing.execution)

const linkClass = "relative font-medium text-live underline-offset-2 hover:underline"

/** Links to the task or monitor and, if the name links to the incident, to the failed execution. */
const OtherLinks = ({ failing, id, incident, kind, name }: CurrentProblem) => {
  const { workspaceId } = useWorkspace()
  const noun = isTaskKind(kind) ? "Task" : "Monitor"
  return (
    <span className="flex justify-end gap-3">
      {failing !== undefined && incident !== undefined && (
        <Link
          {...executionLink(workspaceId, failing)}
          aria-label={`Execution of ${name}`}
          className={linkClass}
        >
          Execution
        </Link>
      )}
      <Link
        {...taskOrMonitorLink(workspaceId, { kind, id })}
        aria-label={`${noun} ${name}`}
        className={linkClass}
      >
        {noun}
      </Link>
    </span>
  )
}

const kindAndHostOf = ({ host, kind }: Row): string =>
  [describeKind(kind), ...(host === undefined ? [] : [host])].join(" · ")

const columns: ReadonlyArray<Column<Row>> = [
  {
    key: "status",
    head: "Status",
    className: "w-32 shrink-0",
    belowOnPhone: "plain",
    cell: (problem) => <ProblemStatus {...problem} />
  },
  {
    key: "problem",
    head: "Task or monitor",
    className: "grow basis-0",
    cell: (problem) => (
      <>
        <span className="flex min-w-0 items-baseline gap-2.5">
          <CauseLink {...problem} />
          <span className="min-w-0 shrink-[4] truncate text-xs text-faint max-sm:hidden">
            {kindAndHostOf(problem)}
          </span>
        </span>
        <span className={rowDetailClass}>
          <span className="sm:hidden">{kindAndHostOf(problem)} · </span>
          <ApiMessage text={reasonOf(problem)} />
        </span>
      </>
    )
  },
  {
    key: "links",
    head: <span className="sr-only">Links</span>,
    className: "w-32 shrink-0 max-sm:order-3 max-sm:ml-auto",
    belowOnPhone: "plain",
    cell: (problem) => <OtherLinks {...problem} />
  },
  {
    key: "time",
    head: "Since",
    className: "w-28 shrink-0",
    belowOnPhone: "plain",
    cell: (problem) => <RelativeTime at={timeOf(problem)} />
  }
]
