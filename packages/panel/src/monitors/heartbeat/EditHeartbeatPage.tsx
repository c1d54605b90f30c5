import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Loaded } from "../../ui/Loaded.tsx"
import { Page } from "../../ui/Page.tsx"
import { tell } from "../../ui/toast.ts"
import { heartbeatOptions, monitorsChanged } from "../queries.ts"
import { HeartbeatForm, heartbeatValuesOf } from "./HeartbeatForm.tsx"

export const EditHeartbeatPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { monitorId } = useParams({
    from: "/inside/w/$workspaceId/monitors/heartbeat/$monitorId/edit"
  })
  const navigate = useNavigate()
  const back = () =>
    navigate({
      to: "/w/$workspaceId/monitors/heartbeat/$monitorId",
      params: { workspaceId, monitorId }
    })
  return (
    <Loaded query={useQuery(heartbeatOptions(workspaceId, monitorId))} name="Edit" width="narrow">
      {(monitor) => (
        <Page title={`Edit ${monitor.name}`} width="narrow">
          <HeartbeatForm
            initial={heartbeatValuesOf(monitor)}
            action="Save changes"
            onCancel={() => void back()}
            onSend={async (input) => {
              await api.heartbeatMonitors.update(monitorId, input)
              tell(`${input.name} was changed`)
              await monitorsChanged(workspaceId)
              await back()
            }}
          />
        </Page>
      )}
    </Loaded>
  )
}
