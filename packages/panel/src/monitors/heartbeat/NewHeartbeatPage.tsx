import { useNavigate } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Page } from "../../ui/Page.tsx"
import { tell } from "../../ui/toast.ts"
import { AboveMonitors } from "../MonitorFrame.tsx"
import { monitorsChanged } from "../queries.ts"
import { HeartbeatForm, newHeartbeat } from "./HeartbeatForm.tsx"

export const NewHeartbeatPage = () => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  return (
    <Page
      title="New heartbeat"
      above={<AboveMonitors workspaceId={workspaceId} />}
      description="Your job asks for a URL when it is done. When it does not, you hear of it."
      width="narrow"
    >
      <HeartbeatForm
        initial={newHeartbeat}
        action="Create heartbeat"
        onCancel={() => void navigate({ to: "/w/$workspaceId/monitors", params: { workspaceId } })}
        onSend={async (input) => {
          const { id, name } = await api.heartbeatMonitors.create(input)
          tell(`${name} was created`)
          void monitorsChanged(workspaceId)
          await navigate({
            to: "/w/$workspaceId/monitors/heartbeat/$monitorId",
            params: { workspaceId, monitorId: id }
          })
        }}
      />
    </Page>
  )
}
