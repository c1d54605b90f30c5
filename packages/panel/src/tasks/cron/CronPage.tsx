import type { CronTask } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { Pause, Pencil, Play, RotateCcw } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { ExecutionList } from "../../executions/ExecutionList.tsx"
import { StatsFigures } from "../../executions/StatsFigures.tsx"
import { queueFacts } from "../../queues/QueueLink.tsx"
import { Button, ButtonLink } from "../../ui/actions/Button.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { Card, Empty, Facts, Page, Section, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Ago, At } from "../../ui/values/Time.tsx"
import { callbackFacts } from "../call/callbackValues.ts"
import { CallFacts } from "../call/CallFacts.tsx"
import { PausedMark } from "../PausedMark.tsx"
import { firingOptionFacts } from "../schedule/firingOptionFacts.tsx"
import { misses, overlaps } from "../schedule/firingWords.ts"
import { inWords } from "../schedule/inWords.ts"
import { CronMenu } from "./CronMenu.tsx"
import { cronOptions } from "./queries.ts"
import { useCronActions } from "./useCronActions.ts"
import { Only } from "../../ui/role.tsx"

export const CronPage = () => {
  const { workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/cron/$taskId" })
  const { data: task, error, refetch } = useQuery(cronOptions(workspaceId, taskId))
  const above = (
    <Link to="/w/$workspaceId/cron" params={{ workspaceId }} className="hover:text-ink">
      Cron tasks
    </Link>
  )
  if (task === undefined) {
    return (
      <Page title={<Skeleton className="h-7 w-64" />} name="Cron task" above={above}>
        {error === null ? <Skeleton className="h-96" /> : <Problem error={error} retry={refetch} />}
      </Page>
    )
  }
  return (
    <Page
      name={task.name}
      above={above}
      title={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          {task.name}
          <PausedMark task={task} />
        </span>
      }
      description={inWords(task.schedule)}
      actions={<CronActions task={task} />}
    >
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-8">
          <Section title="Last 24 hours">
            <StatsFigures query={{ task_id: task.id }} />
          </Section>
          <Section title="Executions">
            <ExecutionList
              search={{ task_id: task.id, kind: "cron" }}
              empty={
                <Empty title="It has not run yet">
                  {task.next_run_at === null ? (
                    "It is paused."
                  ) : (
                    <>
                      The first run is <Ago at={task.next_run_at} />.
                    </>
                  )}
                </Empty>
              }
            />
          </Section>
        </div>
        <aside className="flex min-w-0 flex-col gap-8">
          <Section title="Schedule">
            <Card className="p-5">
              <Facts facts={scheduleFacts(task)} />
            </Card>
          </Section>
          <Section title="Call">
            <CallFacts call={task} />
          </Section>
        </aside>
      </div>
    </Page>
  )
}

const CronActions = ({ task }: { readonly task: CronTask }) => {
  const { pause, resume, run } = useCronActions()
  const navigate = useNavigate()
  const params = { workspaceId: task.workspace_id, taskId: task.id }
  return (
    <Only role="editor">
      <Button look="main" icon={<Play className="size-4" />} onClick={() => run(task)}>
        Run now
      </Button>
      {task.status === "active" ? (
        <Button icon={<Pause className="size-4" />} onClick={() => pause(task)}>
          Pause
        </Button>
      ) : (
        <Button icon={<RotateCcw className="size-4" />} onClick={() => resume(task)}>
          Resume
        </Button>
      )}
      <ButtonLink
        to="/w/$workspaceId/cron/$taskId/edit"
        params={params}
        icon={<Pencil className="size-4" />}
      >
        Edit
      </ButtonLink>
      <CronMenu
        task={task}
        onRemoved={() => navigate({ to: "/w/$workspaceId/cron", params, replace: true })}
      />
    </Only>
  )
}

const scheduleFacts = (task: CronTask) =>
  [
    [
      "Next run",
      task.next_run_at === null ? (
        task.status === "paused" ? (
          "None while paused"
        ) : (
          "None: the schedule has ended"
        )
      ) : (
        <>
          <Ago at={task.next_run_at} />
          <br />
          <At at={task.next_run_at} className="text-faint" />
        </>
      )
    ],
    [
      "Expression",
      <code key="0" className="font-mono text-sm">
        {task.schedule}
      </code>
    ],
    ["Time zone", task.timezone],
    ["If unfinished", overlaps[task.overlap]],
    ["Missed runs", misses[task.missed]],
    ...firingOptionFacts(task),
    ...queueFacts(task),
    ...callbackFacts(task),
    ["Created", <At key="1" at={task.created_at} />],
    ["Id", <CopyText key="2" text={task.id} />]
  ] as const
