import type { DelayedTask } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { Ban, Braces, Copy, Pencil, Play } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { nameFromUrl } from "../../data/tasks.ts"
import { ExecutionList } from "../../executions/ExecutionList.tsx"
import { executionQueries } from "../../executions/queries.ts"
import { Button, ButtonLink } from "../../ui/actions/Button.tsx"
import { Confirm } from "../../ui/actions/Dialog.tsx"
import { Recipients } from "../../recipients/Recipients.tsx"
import { QueuedReason } from "../../queues/QueuedReason.tsx"
import { EmptyState, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { runWithToast, showSuccessToast } from "../../ui/messages/toast.ts"
import { RoleGate } from "../../ui/role.tsx"
import { stripDirectionMarks } from "../../ui/values/stripDirectionMarks.ts"
import { RelativeTime, ShortTime } from "../../ui/values/Time.tsx"
import { Versions } from "../../versions/Versions.tsx"
import { CallFacts } from "../call/CallFacts.tsx"
import { RunInputDialog } from "../RunInputDialog.tsx"
import { recipientsSubject, taskFacts } from "../taskFacts.tsx"
import { TaskPage } from "../TaskPage.tsx"
import { delayedQueries } from "./delayedQueries.ts"
import { DelayedStatus, isQueued } from "./DelayedStatus.tsx"

export const DelayedPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/delayed/$taskId" })
  return (
    <TaskPage
      kind="delayed"
      options={delayedQueries.one(workspaceId, taskId)}
      name={nameOf}
      title={(task) => (
        <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
          {stripDirectionMarks(nameOf(task))}
          <span className="text-base font-medium tracking-normal">
            <DelayedStatus of={task} />
          </span>
        </span>
      )}
      description={(task) => (isQueued(task) ? <QueuedReason of={task} /> : undefined)}
      actions={(task) => (
        <RoleGate role="editor">
          <DelayedActions task={task} />
        </RoleGate>
      )}
      recipients={(task) =>
        task.status === "pending" ? recipientsSubject("delayed", task) : undefined
      }
    >
      {(task) => (
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <Section title="Executions">
            <ExecutionList
              search={{ task_id: task.id, kind: "delayed" }}
              empty={
                <EmptyState title="No executions yet">
                  {task.status === "pending" ? (
                    <>
                      The call starts <RelativeTime at={task.run_at} />.
                    </>
                  ) : (
                    "The task was cancelled before it was due."
                  )}
                </EmptyState>
              }
            />
          </Section>
          <aside className="flex min-w-0 flex-col gap-8">
            <FactsSection
              title="Task"
              facts={{
                Due: (
                  <>
                    <RelativeTime at={task.run_at} />
                    <br />
                    <ShortTime at={task.run_at} className="text-faint" />
                  </>
                ),
                ...taskFacts(task)
              }}
            />
            <Section title="Call">
              <CallFacts call={task} />
            </Section>
            {task.status === "pending" && (
              <Recipients subject={recipientsSubject("delayed", task)} />
            )}
            <Versions
              record={task}
              resource={api.delayed}
              queryKey={delayedQueries.all(workspaceId)}
              onRestored={
                task.status === "pending" ? () => delayedQueries.changed(workspaceId) : undefined
              }
            />
          </aside>
        </div>
      )}
    </TaskPage>
  )
}

const nameOf = ({ name, url }: DelayedTask) => name ?? nameFromUrl(url)

const DelayedActions = ({ task }: { readonly task: DelayedTask }) => {
  const { api, workspaceId } = useWorkspace()
  const [isCancelling, setCancelling] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const changed = () =>
    Promise.all([delayedQueries.changed(workspaceId), executionQueries.changed(workspaceId)])
  const name = nameOf(task)
  const isPending = task.status === "pending"
  const params = { workspaceId, taskId: task.id }
  return (
    <>
      {(isPending || task.status === "finished") && (
        <>
          <Button
            look="main"
            icon={<Play />}
            onClick={async () => {
              await runWithToast(() => api.delayed.run(task.id), `${name} was started`)
              await changed()
            }}
          >
            {isPending ? "Run now" : "Run again"}
          </Button>
          <Button icon={<Braces />} onClick={() => setAsking(true)}>
            Run with input
          </Button>
        </>
      )}
      {isPending && (
        <ButtonLink to="/w/$workspaceId/delayed/$taskId/edit" params={params} icon={<Pencil />}>
          Edit
        </ButtonLink>
      )}
      <ButtonLink
        to="/w/$workspaceId/delayed/new"
        params={params}
        search={{ from: task.id }}
        icon={<Copy />}
      >
        Duplicate
      </ButtonLink>
      {isPending && (
        <Button look="danger" icon={<Ban />} onClick={() => setCancelling(true)}>
          Cancel task
        </Button>
      )}
      <RunInputDialog
        isOpen={isAsking}
        name={name}
        onClose={() => setAsking(false)}
        onRun={async (request) => {
          await api.delayed.run(task.id, request)
          showSuccessToast(`${name} was started`)
          void changed()
        }}
      />
      <Confirm
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        title={`Cancel ${name}?`}
        action="Cancel task"
        onConfirm={async () => {
          await api.delayed.delete(task.id)
          showSuccessToast(`${name} was cancelled`)
          await changed()
        }}
      >
        It will not run. It stays in the list as cancelled.
      </Confirm>
    </>
  )
}
