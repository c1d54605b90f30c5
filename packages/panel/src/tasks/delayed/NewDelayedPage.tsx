import { useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { tell } from "../../ui/messages/toast.ts"
import { NewTaskPage } from "../TaskPages.tsx"
import { delayedCopyOf, DelayedForm, newDelayed } from "./DelayedForm.tsx"
import { delayedQueries, delayedWords } from "./queries.ts"

export const NewDelayedPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { from } = useSearch({ from: "/inside/w/$workspaceId/delayed/new" })
  const navigate = useNavigate()
  return (
    <NewTaskPage
      words={delayedWords}
      from={from}
      one={delayedQueries.one(workspaceId, from ?? "")}
      form={(original) => (
        <DelayedForm
          initial={original === undefined ? newDelayed : delayedCopyOf(original)}
          action="Create delayed task"
          onCancel={() => navigate({ to: "/w/$workspaceId/delayed", params: { workspaceId } })}
          onSend={async (input) => {
            const { id } = await api.delayed.create(input)
            tell("The task was created")
            void delayedQueries.changed(workspaceId)
            const params = { workspaceId, taskId: id }
            await navigate({ to: "/w/$workspaceId/delayed/$taskId", params })
          }}
        />
      )}
    />
  )
}
