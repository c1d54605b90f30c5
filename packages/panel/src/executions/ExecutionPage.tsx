import type { ExecutionDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { callOptions, taskNames } from "../data/tasks.ts"
import { AboveLink } from "../ui/layout/AboveLink.tsx"
import {
  Card,
  type FactsByName,
  FactsSection,
  Page,
  Section,
  Skeleton
} from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { Code } from "../ui/values/Code.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { Status } from "../ui/values/Status.tsx"
import { At, Duration, ExactAt } from "../ui/values/Time.tsx"
import { Attempts } from "./Attempts.tsx"
import { ExecutionActions } from "./ExecutionActions.tsx"
import { executionQueries } from "./queries.ts"
import { Repeat } from "./Repeat.tsx"
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
    <AboveLink to="/w/$workspaceId/executions" params={{ workspaceId }}>
      Executions
    </AboveLink>
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
  const { awaiting_completion_since, error, kind, progress, status, task_id } = execution
  const name = taskNames.useName(workspaceId, task_id)
  const { data: call } = useQuery(callOptions(workspaceId, kind, task_id))
  const waiting =
    awaiting_completion_since === null
      ? undefined
      : "The execution is waiting for the job to report its result."
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
      description={error?.message ?? waiting}
      actions={<ExecutionActions execution={execution} />}
    >
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-8">
          <Section title={execution.attempts.length === 1 ? "Attempt" : "Attempts"}>
            <Attempts execution={execution} />
          </Section>
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
                    <At at={at} className="text-faint" />
                    <span className="min-w-0 break-words">{text}</span>
                  </p>
                ))}
              </Card>
            </Section>
          )}
          {call != null && (
            <Section title="Make this call yourself">
              <Repeat call={call} executionId={execution.id} />
            </Section>
          )}
        </div>
        <FactsSection title="Execution" facts={factsOf(execution)} />
      </div>
    </Page>
  )
}

const triggers = {
  schedule: "Schedule",
  manual: "Manual run",
  retry: "Retry after a lost node",
  chain: "Previous step",
  rerun: "Rerun"
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
  Trigger: triggers[execution.trigger],
  Due: <ExactAt at={execution.scheduled_for} />,
  Started: <ExactAt at={execution.started_at} />,
  "Waiting since":
    execution.awaiting_completion_since === null ? undefined : (
      <ExactAt at={execution.awaiting_completion_since} />
    ),
  "Late by": <Duration ms={execution.lateness_ms} />,
  Finished: <ExactAt at={execution.finished_at} />,
  Duration: <Duration ms={execution.duration_ms} />,
  "Error code": execution.error?.code,
  Id: <CopyText text={execution.id} />
})
