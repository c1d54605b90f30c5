import type { FailingTask, WorkspaceId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useWorkspace } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { taskOrMonitorLink } from "../data/targets.ts"
import { IncidentStatus } from "../incidents/IncidentList.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { type Column, List, rowDetailClass, rowTitleClass } from "../ui/lists/List.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { StatusDot, Status } from "../ui/values/Status.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { RelativeTime } from "../ui/values/Time.tsx"
import { failingTasksOptions } from "./prefetchOverview.ts"
import { type CurrentProblem, problemsOf } from "./problems.ts"

/** The failing tasks and the open incidents, worst first. */
export const CurrentProblems = ({
  hasRun
}: {
  /** True if anything ran in the last 24 hours. */
  readonly hasRun: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const failing = useQuery(failingTasksOptions(workspaceId))
  const incidents = useQuery(openIncidentsOptions(workspaceId))
  const rows = useMemo(
    () => problemsOf(failing.data ?? [], incidents.data?.data ?? []),
    [failing.data, incidents.data]
  )
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

const ProblemStatus = ({ failing, incident }: CurrentProblem) =>
  incident === undefined ||
  (failing !== undefined && incident.status === "open" && !incident.suppressed) ? (
    <Status of="failing" />
  ) : (
    <IncidentStatus incident={incident} />
  )

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
  failing === undefined
    ? (incident?.cause.message ?? "")
    : [failing.execution.step, failing.execution.error?.message]
        .filter((part) => part != null)
        .join(" · ")

const linkClass = "relative font-medium text-live underline-offset-2 hover:underline"

/** Links to the task or monitor and, if the name links to the incident, to the failed execution. */
const OtherLinks = ({ failing, id, incident, name }: CurrentProblem) => {
  const { workspaceId } = useWorkspace()
  const kind = failing?.kind ?? incident?.subject.kind
  const noun = failing !== undefined || kind === "cron" || kind === "chain" ? "Task" : "Monitor"
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
      {kind !== undefined && (
        <Link
          {...taskOrMonitorLink(workspaceId, { kind, id })}
          aria-label={`${noun} ${name}`}
          className={linkClass}
        >
          {noun}
        </Link>
      )}
    </span>
  )
}

const columns: ReadonlyArray<Column<CurrentProblem>> = [
  {
    key: "status",
    head: "Status",
    className: "w-32 shrink-0 max-sm:hidden",
    cell: (problem) => <ProblemStatus {...problem} />
  },
  {
    key: "problem",
    head: "Task or monitor",
    className: "grow basis-0",
    cell: (problem) => (
      <>
        <CauseLink {...problem} />
        <span className={rowDetailClass}>
          <span className="mr-2 sm:hidden">
            <ProblemStatus {...problem} />
          </span>
          <ApiMessage text={reasonOf(problem)} />
        </span>
      </>
    )
  },
  {
    key: "links",
    head: <span className="sr-only">Links</span>,
    className: "w-32 shrink-0",
    cell: (problem) => (
      <>
        <OtherLinks {...problem} />
        <RelativeTime
          at={timeOf(problem)}
          className="block text-right text-xs text-faint sm:hidden"
        />
      </>
    )
  },
  {
    key: "time",
    head: "Since",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: (problem) => <RelativeTime at={timeOf(problem)} />
  }
]
