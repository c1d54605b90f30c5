import { useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Page, Skeleton } from "../../ui/layout/Page.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { useOriginal } from "../useOriginal.ts"
import { CronForm, cronValuesOf, newCron } from "./CronForm.tsx"
import { cronChanged, cronOptions } from "./queries.ts"

export const NewCronPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { from } = useSearch({ from: "/inside/w/$workspaceId/cron/new" })
  const navigate = useNavigate()
  const original = useOriginal(from, cronOptions(workspaceId, from ?? ""))
  if (original === null) return <Skeleton className="m-8 h-96" />
  const initial =
    original === undefined
      ? newCron
      : { ...cronValuesOf(original), name: `${original.name} (copy)` }
  return (
    <Page title="New cron task" width="narrow">
      <CronForm
        initial={initial}
        action="Create cron task"
        onCancel={() => navigate({ to: "/w/$workspaceId/cron", params: { workspaceId } })}
        onSend={async (input) => {
          const { id, name } = await api.cron.create(input)
          tell(`${name} was created`)
          void cronChanged(workspaceId)
          await navigate({
            to: "/w/$workspaceId/cron/$taskId",
            params: { workspaceId, taskId: id }
          })
        }}
      />
    </Page>
  )
}
