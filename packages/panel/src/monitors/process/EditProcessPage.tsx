import type { ProcessMonitorInput } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { EditMonitor } from "../MonitorPages.tsx"
import { processOptions } from "../queries.ts"
import { ProcessForm, processValuesOf } from "./ProcessForm.tsx"

export const EditProcessPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { monitorId } = useParams({
    from: "/inside/w/$workspaceId/monitors/process/$monitorId/edit"
  })
  return (
    <EditMonitor
      kind="process"
      monitorId={monitorId}
      options={processOptions(workspaceId, monitorId)}
      valuesOf={processValuesOf}
      onUpdate={(changes: Partial<ProcessMonitorInput>) =>
        api.processMonitors.update(monitorId, changes)
      }
    >
      {(ends) => <ProcessForm action="Save changes" {...ends} />}
    </EditMonitor>
  )
}
