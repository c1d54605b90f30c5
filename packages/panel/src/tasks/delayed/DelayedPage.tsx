import type { DelayedTask } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { Ban, Copy, Pencil, Play } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { anew, queries } from "../../data/queries.ts"
import { unnamed } from "../../data/tasks.ts"
import { ExecutionList } from "../../executions/ExecutionList.tsx"
import { executionsChanged } from "../../executions/queries.ts"
import { queueFacts } from "../../queues/QueueLink.tsx"
import { Button, ButtonLink } from "../../ui/actions/Button.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { Confirm, Sheet } from "../../ui/actions/Dialog.tsx"
import { Card, Empty, Facts, Page, Section, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Ago, At } from "../../ui/values/Time.tsx"
import { tell, tellProblem } from "../../ui/messages/toast.ts"
import { callbackFacts } from "../call/callbackValues.ts"
import { CallFacts } from "../call/CallFacts.tsx"
import { DelayedForm, delayedValuesOf } from "./DelayedForm.tsx"
import { DelayedStatus } from "./DelayedStatus.tsx"
import { delayedChanged, delayedOptions } from "./queries.ts"
import { Only } from "../../ui/role.tsx"

export const DelayedPage = () => {
  const { workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/delayed/$taskId" })
  const { data: task, error, refetch } = useQuery(delayedOptions(workspaceId, taskId))
  const above = (
    <Link to="/w/$workspaceId/delayed" params={{ workspaceId }} className="hover:text-ink">
      Delayed tasks
    </Link>
  )
  if (task === undefined) {
    return (
      <Page title={<Skeleton className="h-7 w-64" />} name="Delayed task" above={above}>
        {error === null ? <Skeleton className="h-96" /> : <Problem error={error} retry={refetch} />}
      </Page>
    )
  }
  const name = task.name ?? unnamed(task.url)
  return (
    <Page
      title={name}
      above={above}
      actions={
        <Only role="editor">
          <DelayedActions task={task} name={name} />
        </Only>
      }
    >
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <Section title="Executions">
          <ExecutionList
            search={{ task_id: task.id, kind: "delayed" }}
            empty={
              <Empty title="It has not run yet">
                {task.status === "pending" ? (
                  <>
                    It runs <Ago at={task.run_at} />.
                  </>
                ) : (
                  "It was cancelled before its time."
                )}
              </Empty>
            }
          />
        </Section>
        <aside className="flex min-w-0 flex-col gap-8">
          <Section title="Facts">
            <Card className="p-5">
              <Facts
                facts={[
                  ["Status", <DelayedStatus key="0" of={task} />],
                  [
                    "Runs",
                    <span key="1">
                      <Ago at={task.run_at} />
                      <br />
                      <At at={task.run_at} className="text-faint" />
                    </span>
                  ],
                  ...queueFacts(task),
                  ...callbackFacts(task),
                  ["Created", <At key="2" at={task.created_at} />],
                  ["Id", <CopyText key="3" text={task.id} />]
                ]}
              />
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

const DelayedActions = ({ name, task }: { readonly task: DelayedTask; readonly name: string }) => {
  const { api, workspaceId } = useWorkspace()
  const [open, setOpen] = useState<"edit" | "cancel">()
  const close = () => setOpen(undefined)
  const changed = () => Promise.all([delayedChanged(workspaceId), executionsChanged(workspaceId)])
  const run = async () => {
    try {
      await api.delayed.run(task.id)
      tell(`${name} was started`)
    } catch (error) {
      tellProblem(error)
    }
    await changed()
  }
  const isPending = task.status === "pending"
  return (
    <>
      {(isPending || task.status === "finished") && (
        <Button look="main" icon={<Play className="size-4" />} onClick={run}>
          {isPending ? "Run now" : "Run again"}
        </Button>
      )}
      {isPending && (
        <Button icon={<Pencil className="size-4" />} onClick={() => setOpen("edit")}>
          Edit
        </Button>
      )}
      <ButtonLink
        to="/w/$workspaceId/delayed/new"
        params={{ workspaceId }}
        search={{ from: task.id }}
        icon={<Copy className="size-4" />}
      >
        Duplicate
      </ButtonLink>
      {isPending && (
        <Button look="danger" icon={<Ban className="size-4" />} onClick={() => setOpen("cancel")}>
          Cancel task
        </Button>
      )}
      <Sheet isOpen={open === "edit"} onClose={close} title={`Edit ${name}`}>
        <DelayedForm
          initial={delayedValuesOf(task)}
          latest={async () =>
            delayedValuesOf(await queries.fetchQuery(anew(delayedOptions(workspaceId, task.id))))
          }
          action="Save changes"
          onCancel={close}
          onSend={async (_, patch) => {
            await patch((changes) => api.delayed.update(task.id, changes))
            tell(`${name} was changed`)
            await changed()
            close()
          }}
        />
      </Sheet>
      <Confirm
        isOpen={open === "cancel"}
        onClose={close}
        title={`Cancel ${name}?`}
        action="Cancel task"
        onConfirm={async () => {
          await api.delayed.remove(task.id)
          tell(`${name} was cancelled`)
          await changed()
        }}
      >
        It will not run. It stays listed as cancelled.
      </Confirm>
    </>
  )
}
