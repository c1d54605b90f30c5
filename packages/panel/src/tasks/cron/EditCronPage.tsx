import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { anew, queries } from "../../data/queries.ts"
import { AboveLink } from "../../ui/layout/AboveLink.tsx"
import { Page, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { CronForm, cronValuesOf } from "./CronForm.tsx"
import { cronChanged, cronOptions } from "./queries.ts"

export const EditCronPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/cron/$taskId/edit" })
  const navigate = useNavigate()
  const { data: task, error } = useQuery(cronOptions(workspaceId, taskId))
  const back = () =>
    navigate({ to: "/w/$workspaceId/cron/$taskId", params: { workspaceId, taskId } })
  return (
    <Page
      title={task === undefined ? "Edit" : `Edit ${task.name}`}
      width="narrow"
      above={
        <AboveLink to="/w/$workspaceId/cron" params={{ workspaceId }}>
          Cron tasks
        </AboveLink>
      }
    >
      {task === undefined ? (
        error === null ? (
          <Skeleton className="h-96" />
        ) : (
          <Problem error={error} />
        )
      ) : (
        <CronForm
          initial={cronValuesOf(task)}
          latest={async () =>
            cronValuesOf(await queries.fetchQuery(anew(cronOptions(workspaceId, taskId))))
          }
          action="Save changes"
          onCancel={back}
          onSend={async (input, patch) => {
            await patch((changes) => api.cron.update(taskId, changes))
            tell(`${input.name} was changed`)
            await cronChanged(workspaceId)
            await back()
          }}
        />
      )}
    </Page>
  )
}
