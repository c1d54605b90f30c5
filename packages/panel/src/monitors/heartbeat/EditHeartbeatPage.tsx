import type { HeartbeatMonitorInput } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { EditMonitor } from "../MonitorPages.tsx"
import { heartbeatOptions } from "../queries.ts"
import { HeartbeatForm, heartbeatValuesOf } from "./HeartbeatForm.tsx"

export const EditHeartbeatPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { monitorId } = useParams({
    from: "/inside/w/$workspaceId/monitors/heartbeat/$monitorId/edit"
  })
  return (
    <EditMonitor
      kind="heartbeat"
      monitorId={monitorId}
      options={heartbeatOptions(workspaceId, monitorId)}
      valuesOf={heartbeatValuesOf}
      onUpdate={(changes: Partial<HeartbeatMonitorInput>) =>
        api.heartbeatMonitors.update(monitorId, changes)
      }
    >
      {(ends) => <HeartbeatForm action="Save changes" {...ends} />}
    </EditMonitor>
  )
}
