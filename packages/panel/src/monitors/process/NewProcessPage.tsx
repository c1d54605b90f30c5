import type { ProcessMonitorInput } from "@scheduling/sdk"
import { useWorkspace } from "../../data/client.ts"
import { NewMonitor } from "../MonitorPages.tsx"
import { ProcessForm, newProcess } from "./ProcessForm.tsx"

export const NewProcessPage = () => {
  const { api } = useWorkspace()
  return (
    <NewMonitor
      kind="process"
      title="Watch a process"
      description="A worker on its machine counts it. You hear when it is gone, or takes too much."
      onCreate={(input: ProcessMonitorInput) => api.processMonitors.create(input)}
    >
      {(ends) => <ProcessForm initial={newProcess} action="Create monitor" {...ends} />}
    </NewMonitor>
  )
}
