import type { SslMonitorInput } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { EditMonitor } from "../MonitorPages.tsx"
import { sslOptions } from "../queries.ts"
import { SslForm, sslValuesOf } from "./SslForm.tsx"

export const EditSslPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { monitorId } = useParams({
    from: "/inside/w/$workspaceId/monitors/ssl/$monitorId/edit"
  })
  return (
    <EditMonitor
      kind="ssl"
      monitorId={monitorId}
      options={sslOptions(workspaceId, monitorId)}
      valuesOf={sslValuesOf}
      onUpdate={(changes: Partial<SslMonitorInput>) => api.sslMonitors.update(monitorId, changes)}
    >
      {(ends) => <SslForm action="Save changes" {...ends} />}
    </EditMonitor>
  )
}
