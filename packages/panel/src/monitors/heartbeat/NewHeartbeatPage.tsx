import type { HeartbeatMonitorInput } from "@scheduling/sdk"
import { useWorkspace } from "../../data/client.ts"
import { NewMonitor } from "../MonitorPages.tsx"
import { HeartbeatForm, newHeartbeat } from "./HeartbeatForm.tsx"

export const NewHeartbeatPage = () => {
  const { api } = useWorkspace()
  return (
    <NewMonitor
      kind="heartbeat"
      title="New heartbeat"
      description="Your job requests a URL when it finishes. If the request does not arrive, you are notified."
      onCreate={(input: HeartbeatMonitorInput) => api.heartbeatMonitors.create(input)}
    >
      {(ends) => <HeartbeatForm initial={newHeartbeat} action="Create heartbeat" {...ends} />}
    </NewMonitor>
  )
}
