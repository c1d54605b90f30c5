import { useNavigate, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { tell } from "../../ui/messages/toast.ts"
import { EditTaskPage } from "../TaskPages.tsx"
import { CronForm, cronValuesOf } from "./CronForm.tsx"
import { cronKind } from "./cronKind.ts"
import { cronQueries } from "./queries.ts"

export const EditCronPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/cron/$taskId/edit" })
  const navigate = useNavigate()
  const back = () =>
    navigate({ to: "/w/$workspaceId/cron/$taskId", params: { workspaceId, taskId } })
  return (
    <EditTaskPage
      words={cronKind}
      one={cronQueries.one(workspaceId, taskId)}
      valuesOf={cronValuesOf}
      form={(initial, latest) => (
        <CronForm
          initial={initial}
          latest={latest}
          action="Save changes"
          onCancel={back}
          onSend={async (input, patch) => {
            await patch((changes) => api.cron.update(taskId, changes))
            tell(`${input.name} was changed`)
            await cronQueries.changed(workspaceId)
            await back()
          }}
        />
      )}
    />
  )
}
