import type { CronTask } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { ExecutionList } from "../../executions/ExecutionList.tsx"
import { StatsFigures } from "../../executions/StatsFigures.tsx"
import { Empty, type FactsByName, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { Ago, At } from "../../ui/values/Time.tsx"
import { Versions } from "../../versions/Versions.tsx"
import { CallFacts } from "../call/CallFacts.tsx"
import { RepeatingActions } from "../RepeatingActions.tsx"
import { misses, overlaps } from "../schedule/firingWords.ts"
import { describeTiming } from "../schedule/describeSchedule.ts"
import { intervalFacts, taskFacts } from "../taskFacts.tsx"
import { TaskPage } from "../TaskPage.tsx"
import { TaskTitle } from "../TaskTitle.tsx"
import { cronKind, cronQueries } from "./cronKind.ts"

export const CronPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/cron/$taskId" })
  return (
    <TaskPage
      kind="cron"
      options={cronQueries.one(workspaceId, taskId)}
      name={({ name }) => name}
      title={(task) => <TaskTitle task={task} />}
      description={(task) => describeTiming(task) ?? ""}
      actions={(task) => <RepeatingActions kind={cronKind} task={task} />}
    >
      {(task) => (
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-8">
            <Section title="Last 24 hours">
              <StatsFigures query={{ task_id: task.id }} />
            </Section>
            <Section title="Executions">
              <ExecutionList
                search={{ task_id: task.id, kind: "cron" }}
                empty={
                  <Empty title="No executions yet">
                    {task.next_run_at === null ? (
                      "The task is paused."
                    ) : (
                      <>
                        The first run starts <Ago at={task.next_run_at} />.
                      </>
                    )}
                  </Empty>
                }
              />
            </Section>
          </div>
          <aside className="flex min-w-0 flex-col gap-8">
            <FactsSection title="Schedule" facts={scheduleFacts(task)} />
            <Section title="Call">
              <CallFacts call={task} />
            </Section>
            <Versions
              record={task}
              resource={api.cron}
              queryKey={cronQueries.all(workspaceId)}
              onRestored={() => cronQueries.changed(workspaceId)}
            />
          </aside>
        </div>
      )}
    </TaskPage>
  )
}

const scheduleFacts = (task: CronTask): FactsByName => ({
  "Next run":
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
    ),
  Expression: task.schedule && <code className="font-mono text-sm">{task.schedule}</code>,
  ...intervalFacts(task),
  "Time zone": task.timezone,
  Overlap: overlaps[task.overlap],
  "Missed runs": misses[task.missed],
  ...taskFacts(task)
})
