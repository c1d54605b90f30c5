import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Loaded } from "../../ui/Loaded.tsx"
import { Page } from "../../ui/Page.tsx"
import { tell } from "../../ui/toast.ts"
import { monitorsChanged, sslOptions } from "../queries.ts"
import { SslForm, sslValuesOf } from "./SslForm.tsx"

export const EditSslPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { monitorId } = useParams({ from: "/inside/w/$workspaceId/monitors/ssl/$monitorId/edit" })
  const navigate = useNavigate()
  const back = () =>
    navigate({
      to: "/w/$workspaceId/monitors/ssl/$monitorId",
      params: { workspaceId, monitorId }
    })
  return (
    <Loaded query={useQuery(sslOptions(workspaceId, monitorId))} name="Edit" width="narrow">
      {(monitor) => (
        <Page title={`Edit ${monitor.name}`} width="narrow">
          <SslForm
            initial={sslValuesOf(monitor)}
            action="Save changes"
            onCancel={() => void back()}
            onSend={async (input) => {
              await api.sslMonitors.update(monitorId, input)
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
