import type { Execution, ExecutionDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight } from "lucide-react"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { useOpenIncident } from "../data/incidents.ts"
import { useIsLive } from "../data/live.ts"
import { definitionOptions } from "../data/targets.ts"
import { taskNames } from "../data/tasks.ts"
import { ActionGrid } from "../ui/layout/ActionGrid.tsx"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import {
  Card,
  type FactsByName,
  FactsSection,
  Page,
  Section,
  Skeleton
} from "../ui/layout/Page.tsx"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { isGone, Problem } from "../ui/messages/Problem.tsx"
import { formatShortExactDateTime, needMilliseconds } from "../ui/values/format.ts"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { Code } from "../ui/values/Code.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { Status } from "../ui/values/Status.tsx"
import { TargetText } from "../ui/values/TargetText.tsx"
import { Duration, ElapsedTime, ExactTime, PreciseTime, RelativeTime } from "../ui/values/Time.tsx"
import { Attempts } from "./Attempts.tsx"
import { ExecutionActions } from "./ExecutionActions.tsx"
import { QueuedReason } from "../queues/QueuedReason.tsx"
import { OtherChangesBefore, OwnChangesBefore } from "../versions/ChangesBefore.tsx"
import { LastSuccessComparison } from "./LastSuccessComparison.tsx"
import { NewerExecutionNotice } from "./NewerExecutionNotice.tsx"
import { neighboursOptions, useNewer } from "./neighbours.ts"
import { describeOutcome } from "./outcome.ts"
import { executionQueries } from "./queries.ts"
import { triggerNames } from "./search.ts"
import { CurlSection } from "./CurlSection.tsx"
import { TaskLink } from "./TaskLink.tsx"
import { useExecutionTarget } from "./useExecutionTarget.ts"

export const ExecutionPage = () => {
  const { workspaceId } = useWorkspace()
  const { executionId } = useParams({ from: "/inside/w/$workspaceId/executions/$executionId" })
  const isLive = useIsLive()
  const query = useQuery({
    ...executionQueries.one(workspaceId, executionId),
    refetchInterval: ({ state }) => (!isLive && state.data?.finished_at === null ? 1_000 : false)
  })
  const above = (
    <ParentPageLink to="/w/$workspaceId/executions" params={{ workspaceId }}>
      Executions
    </ParentPageLink>
  )
  return (
    <LoadedPage query={query} name="Execution" above={above}>
      {(execution) => <ExecutionView execution={execution} above={above} />}
    </LoadedPage>
  )
}

const ExecutionView = ({
  above,
  execution
}: {
  readonly above: ReactNode
  readonly execution: ExecutionDetail
}) => {
  const { workspaceId } = useWorkspace()
  const { kind, progress, status, task_id } = execution
  const name = taskNames.useName(workspaceId, task_id)
  const subject = { kind, id: task_id }
  const definition = useQuery(definitionOptions(workspaceId, subject))
  const target = useExecutionTarget(execution)
  const neighbours = useQuery(neighboursOptions(workspaceId, execution))
  const good = neighbours.data?.good
  const newer = useNewer(workspaceId, execution)
  const failedPart = neighbours.error === null ? newer : neighbours
  const failure =
    status === "failed" && neighbours.data !== undefined
      ? {
          subject,
          from: good?.started_at ?? good?.scheduled_for,
          to: execution.started_at ?? execution.scheduled_for
        }
      : undefined
  return (
    <Page
      name={name ?? "Execution"}
      above={above}
      title={
        <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
          {name ?? <Skeleton className="h-7 w-48" />}
          <span className="text-base font-medium tracking-normal">
            <Status of={status} />
          </span>
        </span>
      }
      description={
        <div className="flex flex-col gap-1">
          <p>
            {describeOutcome(execution) ?? waitingText(execution)}
            {status === "queued" && definition.data !== undefined && (
              <QueuedReason of={definition.data} />
            )}
          </p>
          {target !== undefined && <TargetText target={target} />}
          {status === "failed" && <FailureLinks taskId={task_id} good={good} />}
        </div>
      }
      actions={
        <ActionGrid>
          <NeighbourLinks previous={neighbours.data?.previous} next={newer.next} />
          <ExecutionActions execution={execution} />
        </ActionGrid>
      }
    >
      <NewerExecutionNotice execution={execution} newer={newer.lastFinished} />
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-8">
          {failure !== undefined && <OwnChangesBefore {...failure} />}
          <Section title={execution.attempts.length === 1 ? "Attempt" : "Attempts"}>
            <Attempts execution={execution} />
          </Section>
          <Problem error={failedPart.error} retry={failedPart.refetch} />
          {good !== undefined && execution.finished_at !== null && (
            <LastSuccessComparison execution={execution} good={good} />
          )}
          {failure !== undefined && <OtherChangesBefore {...failure} />}
          {execution.input !== null && (
            <Section title="Input">
              <Code wrap label="input" text={JSON.stringify(execution.input, null, 2)} />
            </Section>
          )}
          {progress.length > 0 && (
            <Section title="Progress">
              <Card className="flex flex-col gap-2 p-5">
                {progress.map(({ at, text }, index) => (
                  <p key={index} className="flex flex-wrap gap-x-3">
                    <ExactTime at={at} className="text-faint" />
                    <span className="min-w-0 break-words">{text}</span>
                  </p>
                ))}
              </Card>
            </Section>
          )}
          {/* Each step of a chain has a call of its own. */}
          {definition.data !== undefined && "headers" in definition.data && (
            <Section title="Reproduce with curl">
              <CurlSection call={definition.data} executionId={execution.id} />
            </Section>
          )}
          {/* An execution is still shown after its task was deleted. */}
          {!isGone(definition.error) && (
            <Problem error={definition.error} retry={definition.refetch} />
          )}
        </div>
        <FactsSection title="Execution" facts={factsOf(execution)} />
      </div>
    </Page>
  )
}

/** Links to the task's open incident and to the last success before a failure. */
const FailureLinks = ({
  good,
  taskId
}: {
  readonly taskId: string
  readonly good: ExecutionDetail | undefined
}) => {
  const { workspaceId } = useWorkspace()
  const incident = useOpenIncident(workspaceId, taskId)
  const className = "font-medium text-live hover:underline"
  return (
    <p className="flex flex-wrap gap-x-4 text-sm not-empty:mt-1">
      {incident !== undefined && (
        <Link
          to="/w/$workspaceId/incidents/$incidentId"
          params={{ workspaceId, incidentId: incident.id }}
          className={className}
        >
          Incident open <ElapsedTime at={incident.opened_at} />
        </Link>
      )}
      {good !== undefined && (
        <Link
          to="/w/$workspaceId/executions/$executionId"
          params={{ workspaceId, executionId: good.id }}
          className={className}
        >
          Last success: <RelativeTime at={good.finished_at} />
        </Link>
      )}
    </p>
  )
}

/** Links to the same task's executions before and after this one. */
const NeighbourLinks = ({
  next,
  previous
}: {
  readonly previous: Execution | undefined
  readonly next: Execution | undefined
}) => {
  const { workspaceId } = useWorkspace()
  const link = (to: Execution | undefined, name: string, icon: ReactNode) =>
    to === undefined ? null : (
      <ButtonLink
        to="/w/$workspaceId/executions/$executionId"
        params={{ workspaceId, executionId: to.id }}
        aria-label={`${name}, ${to.status}, ${formatShortExactDateTime(to.scheduled_for)}`}
        icon={icon}
      >
        {name}
      </ButtonLink>
    )
  return (
    <>
      {link(previous, "Previous run", <ChevronLeft />)}
      {link(next, "Next run", <ChevronRight />)}
    </>
  )
}

const waitingText = ({
  approval,
  awaiting_completion_since,
  waits_until
}: ExecutionDetail): string | undefined => {
  if (approval !== null) return approval.message ?? "The step waits for approval."
  if (waits_until !== null) return "The step waits for a set time. Then the next step starts."
  return awaiting_completion_since === null
    ? undefined
    : "The execution is waiting for the job to report its result."
}

const factsOf = (execution: ExecutionDetail): FactsByName => {
  const { finished_at, scheduled_for, started_at } = execution
  const Moment = needMilliseconds([scheduled_for, started_at, finished_at])
    ? PreciseTime
    : ExactTime
  return {
    Task: (
      <TaskLink
        kind={execution.kind}
        taskId={execution.task_id}
        runId={execution.chain_run_id}
        className="font-medium hover:underline"
      />
    ),
    Step: execution.step ?? undefined,
    "Flow key":
      execution.flow_key === null ? undefined : (
        <code className="font-mono text-sm wrap-anywhere">{execution.flow_key}</code>
      ),
    Trigger: triggerNames[execution.trigger],
    Due: <Moment at={scheduled_for} />,
    Started: started_at !== null && <Moment at={started_at} />,
    "Waiting since":
      execution.awaiting_completion_since === null ? undefined : (
        <ExactTime at={execution.awaiting_completion_since} />
      ),
    "Waits until":
      execution.waits_until === null ? undefined : <ExactTime at={execution.waits_until} />,
    "Waits for approval until":
      execution.approval === null ? undefined : <ExactTime at={execution.approval.until} />,
    "Late by": execution.lateness_ms !== null && <Duration ms={execution.lateness_ms} />,
    Finished: finished_at !== null && <Moment at={finished_at} />,
    Duration: execution.duration_ms !== null && <Duration ms={execution.duration_ms} />,
    "Error code": execution.error?.code,
    Id: <CopyableText text={execution.id} />
  }
}
