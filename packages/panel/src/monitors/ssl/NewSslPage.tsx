import { useNavigate } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Page } from "../../ui/Page.tsx"
import { tell } from "../../ui/toast.ts"
import { AboveMonitors } from "../MonitorFrame.tsx"
import { monitorsChanged } from "../queries.ts"
import { newSsl, SslForm } from "./SslForm.tsx"

export const NewSslPage = () => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  return (
    <Page
      title="Watch a certificate"
      above={<AboveMonitors workspaceId={workspaceId} />}
      description="You hear of it before it expires, and when clients would refuse it."
      width="narrow"
    >
      <SslForm
        initial={newSsl}
        action="Create monitor"
        onCancel={() => void navigate({ to: "/w/$workspaceId/monitors", params: { workspaceId } })}
        onSend={async (input) => {
          const { id, name } = await api.sslMonitors.create(input)
          tell(`${name} was created`)
          void monitorsChanged(workspaceId)
          await navigate({
            to: "/w/$workspaceId/monitors/ssl/$monitorId",
            params: { workspaceId, monitorId: id }
          })
        }}
      />
    </Page>
  )
}
