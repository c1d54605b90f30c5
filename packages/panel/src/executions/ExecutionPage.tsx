import type { ExecutionDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { callOptions, useTaskName } from "../data/tasks.ts"
import { CopyText } from "../ui/values/Copy.tsx"
import { Card, Facts, Page, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Status } from "../ui/values/Status.tsx"
import { At, Duration, ExactAt, None } from "../ui/values/Time.tsx"
import { Attempts } from "./Attempts.tsx"
import { ExecutionActions } from "./ExecutionActions.tsx"
import { executionOptions } from "./queries.ts"
import { Repeat } from "./Repeat.tsx"
import { TaskLink } from "./TaskLink.tsx"

export const ExecutionPage = () => {
  const { workspaceId } = useWorkspace()
  const { executionId } = useParams({ from: "/inside/w/$workspaceId/executions/$executionId" })
  const isLive = useIsLive()
  const { data, error, refetch } = useQuery({
    ...executionOptions(workspaceId, executionId),
    refetchInterval: ({ state }) => (!isLive && state.data?.finished_at === null ? 1_000 : false)
  })
  const above = (
    <Link to="/w/$workspaceId/executions" params={{ workspaceId }} className="hover:text-ink">
      Executions
    </Link>
  )
  if (data === undefined) {
    return (
      <Page title={<Skeleton className="h-7 w-64" />} name="Execution" above={above}>
        {error === null ? <Skeleton className="h-96" /> : <Problem error={error} retry={refetch} />}
      </Page>
    )
  }
  return <ExecutionView execution={data} above={above} />
}

const ExecutionView = ({
  above,
  execution
}: {
  readonly execution: ExecutionDetail
  readonly above: React.ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const { kind, task_id } = execution
  const name = useTaskName(workspaceId, task_id)
  const { data: call } = useQuery(callOptions(workspaceId, kind, task_id))
  return (
    <Page
      name={name ?? "Execution"}
      above={above}
      title={
        <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
          {name ?? <Skeleton className="h-7 w-48" />}
          <span className="text-base font-medium tracking-normal">
            <Status of={execution.status} />
          </span>
        </span>
      }
      description={
        execution.error?.message ??
        (isAwaiting(execution) ? "Waiting for its call-back." : undefined)
      }
      actions={<ExecutionActions execution={execution} />}
    >
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-8">
          <Section title={execution.attempts.length === 1 ? "Attempt" : "Attempts"}>
            <Attempts execution={execution} />
          </Section>
          {execution.progress !== undefined && (
            <Section title="Progress">
              <Card className="flex flex-col gap-2 p-5">
                {execution.progress.map(({ at, text }, index) => (
                  <p key={index} className="flex flex-wrap gap-x-3">
                    <At at={at} className="text-faint" />
                    <span className="min-w-0 break-words">{text}</span>
                  </p>
                ))}
              </Card>
            </Section>
          )}
          {call != null && (
            <Section title="Run this call yourself">
              <Repeat call={call} executionId={execution.id} />
            </Section>
          )}
        </div>
        <Section title="Facts">
          <Card className="p-5">
            <Facts facts={factsOf(execution)} />
          </Card>
        </Section>
      </div>
    </Page>
  )
}

const triggers = {
  schedule: "Schedule",
  manual: "Run by hand",
  retry: "Run again after a node was lost",
  chain: "Previous step",
  rerun: "Rerun"
}

const orNone = (at: string | null) => (at === null ? <None /> : <ExactAt at={at} />)

const isAwaiting = (
  execution: ExecutionDetail
): execution is ExecutionDetail & { readonly awaiting_completion_since: string } =>
  execution.awaiting_completion_since !== undefined

const factsOf = (execution: ExecutionDetail) =>
  [
    ["Task", <TaskLink key="task" execution={execution} />],
    ...(execution.step === null ? [] : [["Step", execution.step] as const]),
    ["Started by", triggers[execution.trigger]],
    ["Due", <ExactAt key="due" at={execution.scheduled_for} />],
    ["Started", orNone(execution.started_at)],
    ...(isAwaiting(execution)
      ? [
          [
            "Waiting since",
            <ExactAt key="awaiting" at={execution.awaiting_completion_since} />
          ] as const
        ]
      : []),
    ["Late by", <Duration key="late" ms={execution.lateness_ms} />],
    ["Ended", orNone(execution.finished_at)],
    ["Took", <Duration key="took" ms={execution.duration_ms} />],
    ...(execution.error === null ? [] : [["Reason", execution.error.code] as const]),
    ["Id", <CopyText key="id" text={execution.id} />]
  ] as const
