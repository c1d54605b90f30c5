import type { SslMonitorInput } from "@scheduling/sdk"
import { useWorkspace } from "../../data/client.ts"
import { NewMonitor } from "../MonitorPages.tsx"
import { SslForm, newSsl } from "./SslForm.tsx"

export const NewSslPage = () => {
  const { api } = useWorkspace()
  return (
    <NewMonitor
      kind="ssl"
      title="Watch a certificate"
      description="You hear of it before it expires, and when clients would refuse it."
      onCreate={(input: SslMonitorInput) => api.sslMonitors.create(input)}
    >
      {(ends) => <SslForm initial={newSsl} action="Create monitor" {...ends} />}
    </NewMonitor>
  )
}
