import type { DelayedTask } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { Ban, Copy, Pencil, Play } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { anew, queries } from "../../data/queries.ts"
import { unnamed } from "../../data/tasks.ts"
import { ExecutionList } from "../../executions/ExecutionList.tsx"
import { executionsChanged } from "../../executions/queries.ts"
import { Button, ButtonLink } from "../../ui/actions/Button.tsx"
import { Confirm, Sheet } from "../../ui/actions/Dialog.tsx"
import { Card, Empty, Facts, Section } from "../../ui/layout/Page.tsx"
import { Ago, At } from "../../ui/values/Time.tsx"
import { tell, tellProblem } from "../../ui/messages/toast.ts"
import { Only } from "../../ui/role.tsx"
import { CallFacts } from "../call/CallFacts.tsx"
import { taskFacts } from "../taskFacts.tsx"
import { TaskPage } from "../TaskPages.tsx"
import { DelayedForm, delayedValuesOf } from "./DelayedForm.tsx"
import { DelayedStatus } from "./DelayedStatus.tsx"
import { delayedQueries, delayedWords } from "./queries.ts"

export const DelayedPage = () => {
  const { workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/delayed/$taskId" })
  return (
    <TaskPage
      words={delayedWords}
      one={delayedQueries.one(workspaceId, taskId)}
      name={nameOf}
      actions={(task) => (
        <Only role="editor">
          <DelayedActions task={task} name={nameOf(task)} />
        </Only>
      )}
    >
      {(task) => (
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
                    ...taskFacts(task)
                  ]}
                />
              </Card>
            </Section>
            <Section title="Call">
              <CallFacts call={task} />
            </Section>
          </aside>
        </div>
      )}
    </TaskPage>
  )
}

const nameOf = ({ name, url }: DelayedTask) => name ?? unnamed(url)

const DelayedActions = ({ name, task }: { readonly task: DelayedTask; readonly name: string }) => {
  const { api, workspaceId } = useWorkspace()
  const [open, setOpen] = useState<"edit" | "cancel">()
  const close = () => setOpen(undefined)
  const changed = () =>
    Promise.all([delayedQueries.changed(workspaceId), executionsChanged(workspaceId)])
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
            delayedValuesOf(
              await queries.fetchQuery(anew(delayedQueries.one(workspaceId, task.id)))
            )
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
