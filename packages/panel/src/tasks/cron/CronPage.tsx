import type { CronTask } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { ExecutionList } from "../../executions/ExecutionList.tsx"
import { Recipients } from "../../recipients/Recipients.tsx"
import { EmptyState, type FactsByName, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { RelativeTime, UserZoneHint } from "../../ui/values/Time.tsx"
import { Versions } from "../../versions/Versions.tsx"
import { CallFacts } from "../call/CallFacts.tsx"
import { RepeatingTaskActions } from "../RepeatingTaskActions.tsx"
import { missedSlotLabels, overlapLabels } from "../schedule/firingLabels.ts"
import { TaskDescription } from "../TaskDescription.tsx"
import { intervalFacts, nextRunOf, recipientsSubject, taskFacts } from "../taskFacts.tsx"
import { SuccessSection } from "../SuccessSection.tsx"
import { TaskPage } from "../TaskPage.tsx"
import { TaskTitle } from "../TaskTitle.tsx"
import { TriggerSection } from "../TriggerSection.tsx"
import { cronKind, cronQueries } from "./cronKind.ts"

export const CronPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/cron/$taskId" })
  return (
    <TaskPage
      kind="cron"
      options={cronQueries.one(workspaceId, taskId)}
      name={({ name }) => name}
      title={(task) => (
        <TaskTitle task={task} resource={api.cron} queryKey={cronQueries.all(workspaceId)} />
      )}
      description={(task) => <TaskDescription task={task} />}
      actions={(task) => <RepeatingTaskActions kind={cronKind} task={task} />}
      recipients={(task) => recipientsSubject("cron", task)}
    >
      {(task) => (
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-8">
            <SuccessSection task={task} resource={api.cron} showsLateness />
            <Section title="Executions">
              <ExecutionList
                search={{ task_id: task.id, kind: "cron" }}
                empty={
                  <EmptyState title="No executions yet">
                    {task.next_run_at === null ? (
                      "The task is paused."
                    ) : (
                      <>
                        The first run starts <RelativeTime at={task.next_run_at} />.
                      </>
                    )}
                  </EmptyState>
                }
              />
            </Section>
          </div>
          <aside className="flex min-w-0 flex-col gap-8">
            <FactsSection
              title="Schedule"
              actions={<UserZoneHint scheduleZone={task.timezone} />}
              facts={scheduleFacts(task)}
            />
            <Section title="Call">
              <CallFacts call={task} />
            </Section>
            <Recipients subject={recipientsSubject("cron", task)} />
            <TriggerSection
              taskId={task.id}
              resource={api.cron}
              queryKey={cronQueries.all(workspaceId)}
            />
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
  "Next run": nextRunOf(task),
  Expression: task.schedule && <code className="font-mono text-sm">{task.schedule}</code>,
  ...intervalFacts(task),
  "Time zone": task.timezone,
  Overlap: overlapLabels[task.overlap],
  "Missed runs": missedSlotLabels[task.missed],
  ...taskFacts(task)
})
