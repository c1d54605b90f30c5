import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useWorkspace } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { taskOrMonitorLink } from "../data/targets.ts"
import { taskLink } from "../data/tasks.ts"
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

const ProblemStatus = ({ incident }: CurrentProblem) =>
  incident === undefined ? (
    <Status of="failing" tone="bad" />
  ) : (
    <IncidentStatus incident={incident} />
  )

/** When the incident opened or, without an incident, when the task failed. */
const timeOf = ({ failing, incident }: CurrentProblem) =>
  incident?.opened_at ?? failing?.execution.finished_at ?? null

/** A link to the failed run or, if none is known, to the incident. */
const CauseLink = ({ failing, id, incident, name }: CurrentProblem) => {
  const { workspaceId } = useWorkspace()
  const to =
    failing === undefined
      ? {
          to: "/w/$workspaceId/incidents/$incidentId" as const,
          params: { workspaceId, incidentId: incident?.id ?? "" }
        }
      : failing.kind === "chain"
        ? taskLink(workspaceId, failing.kind, id, failing.execution.chain_run_id)
        : {
            to: "/w/$workspaceId/executions/$executionId" as const,
            params: { workspaceId, executionId: failing.execution.id }
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

/** Links to the task or monitor and, if the name links to the failed run, to the incident. */
const OtherLinks = ({ failing, id, incident, name }: CurrentProblem) => {
  const { workspaceId } = useWorkspace()
  const kind = failing?.kind ?? incident?.subject.kind
  const noun = failing !== undefined || kind === "cron" || kind === "chain" ? "Task" : "Monitor"
  return (
    <span className="flex justify-end gap-3">
      {failing !== undefined && incident !== undefined && (
        <Link
          to="/w/$workspaceId/incidents/$incidentId"
          params={{ workspaceId, incidentId: incident.id }}
          aria-label={`Incident of ${name}`}
          className={linkClass}
        >
          Incident
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
    head: "Opened or failed",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: (problem) => <RelativeTime at={timeOf(problem)} />
  }
]
