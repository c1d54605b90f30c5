import { useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { tell } from "../../ui/messages/toast.ts"
import { NewTaskPage } from "../TaskPages.tsx"
import { CronForm, cronValuesOf, newCron } from "./CronForm.tsx"
import { cronKind } from "./cronKind.ts"
import { cronQueries } from "./queries.ts"

export const NewCronPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { from } = useSearch({ from: "/inside/w/$workspaceId/cron/new" })
  const navigate = useNavigate()
  return (
    <NewTaskPage
      words={cronKind}
      from={from}
      one={cronQueries.one(workspaceId, from ?? "")}
      form={(original) => (
        <CronForm
          initial={
            original === undefined
              ? newCron
              : { ...cronValuesOf(original), name: `${original.name} (copy)` }
          }
          action="Create cron task"
          onCancel={() => navigate({ to: "/w/$workspaceId/cron", params: { workspaceId } })}
          onSend={async (input) => {
            const { id, name } = await api.cron.create(input)
            tell(`${name} was created`)
            void cronQueries.changed(workspaceId)
            const params = { workspaceId, taskId: id }
            await navigate({ to: "/w/$workspaceId/cron/$taskId", params })
          }}
        />
      )}
    />
  )
}
