import type { Execution, ExecutionDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight } from "lucide-react"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { callOfTaskOptions, taskNames } from "../data/tasks.ts"
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
import { formatShortExactDateTime } from "../ui/values/format.ts"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { Code } from "../ui/values/Code.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { Status } from "../ui/values/Status.tsx"
import { ShortTime, Duration, ExactTime } from "../ui/values/Time.tsx"
import { Attempts } from "./Attempts.tsx"
import { ExecutionActions } from "./ExecutionActions.tsx"
import { ChangesBefore } from "../versions/ChangesBefore.tsx"
import { LastSuccessComparison } from "./LastSuccessComparison.tsx"
import { type Neighbours, neighboursOptions } from "./neighbours.ts"
import { executionQueries } from "./queries.ts"
import { triggerNames } from "./search.ts"
import { CurlSection } from "./CurlSection.tsx"
import { TaskLink } from "./TaskLink.tsx"

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
  const { error, kind, progress, status, task_id } = execution
  const name = taskNames.useName(workspaceId, task_id)
  const call = useQuery(callOfTaskOptions(workspaceId, kind, task_id))
  const neighbours = useQuery(neighboursOptions(workspaceId, execution))
  const good = neighbours.data?.good
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
      description={error?.message ?? waitingText(execution)}
      actions={
        <>
          <NeighbourLinks neighbours={neighbours.data} />
          <ExecutionActions execution={execution} />
        </>
      }
    >
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-8">
          {status === "failed" && neighbours.data !== undefined && (
            <ChangesBefore
              subject={{ kind, id: task_id }}
              from={good?.started_at ?? good?.scheduled_for}
              to={execution.started_at ?? execution.scheduled_for}
            />
          )}
          <Section title={execution.attempts.length === 1 ? "Attempt" : "Attempts"}>
            <Attempts execution={execution} />
          </Section>
          <Problem error={neighbours.error} retry={neighbours.refetch} />
          {good !== undefined && execution.finished_at !== null && (
            <LastSuccessComparison execution={execution} good={good} />
          )}
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
                    <ShortTime at={at} className="text-faint" />
                    <span className="min-w-0 break-words">{text}</span>
                  </p>
                ))}
              </Card>
            </Section>
          )}
          {call.data != null && (
            <Section title="Reproduce with curl">
              <CurlSection call={call.data} executionId={execution.id} />
            </Section>
          )}
          {/* An execution is still shown after its task was deleted. */}
          {!isGone(call.error) && <Problem error={call.error} retry={call.refetch} />}
        </div>
        <FactsSection title="Execution" facts={factsOf(execution)} />
      </div>
    </Page>
  )
}

/** Links to the same task's executions before and after this one. */
const NeighbourLinks = ({ neighbours }: { readonly neighbours: Neighbours | undefined }) => {
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
      {link(neighbours?.previous, "Previous run", <ChevronLeft />)}
      {link(neighbours?.next, "Next run", <ChevronRight />)}
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

const factsOf = (execution: ExecutionDetail): FactsByName => ({
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
  Due: <ExactTime at={execution.scheduled_for} />,
  Started: <ExactTime at={execution.started_at} />,
  "Waiting since":
    execution.awaiting_completion_since === null ? undefined : (
      <ExactTime at={execution.awaiting_completion_since} />
    ),
  "Waits until":
    execution.waits_until === null ? undefined : <ExactTime at={execution.waits_until} />,
  "Waits for approval until":
    execution.approval === null ? undefined : <ExactTime at={execution.approval.until} />,
  "Late by": <Duration ms={execution.lateness_ms} />,
  Finished: <ExactTime at={execution.finished_at} />,
  Duration: <Duration ms={execution.duration_ms} />,
  "Error code": execution.error?.code,
  Id: <CopyableText text={execution.id} />
})
