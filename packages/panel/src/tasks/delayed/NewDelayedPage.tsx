import { useNavigate } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Page } from "../../ui/Page.tsx"
import { tell } from "../../ui/toast.ts"
import { DelayedForm, newDelayed } from "./DelayedForm.tsx"
import { delayedChanged } from "./queries.ts"

export const NewDelayedPage = () => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  return (
    <Page title="New delayed task" width="narrow">
      <DelayedForm
        initial={newDelayed}
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
