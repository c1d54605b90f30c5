import { useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Page, Skeleton } from "../../ui/layout/Page.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { useOriginal } from "../useOriginal.ts"
import { delayedCopyOf, DelayedForm, newDelayed } from "./DelayedForm.tsx"
import { delayedChanged, delayedOptions } from "./queries.ts"

export const NewDelayedPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { from } = useSearch({ from: "/inside/w/$workspaceId/delayed/new" })
  const navigate = useNavigate()
  const original = useOriginal(from, delayedOptions(workspaceId, from ?? ""))
  if (original === null) return <Skeleton className="m-8 h-96" />
  return (
    <Page title="New delayed task" width="narrow">
      <DelayedForm
        initial={original === undefined ? newDelayed : delayedCopyOf(original)}
        action="Create delayed task"
        onCancel={() => navigate({ to: "/w/$workspaceId/delayed", params: { workspaceId } })}
        onSend={async (input) => {
          const { id } = await api.delayed.create(input)
          tell("The task was created")
          void delayedChanged(workspaceId)
          await navigate({
            to: "/w/$workspaceId/delayed/$taskId",
            params: { workspaceId, taskId: id }
          })
        }}
      />
    </Page>
  )
}
