import type { MonitorId } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { useMonitorName } from "../data/names.ts"
import { Skeleton } from "../ui/layout/Page.tsx"

export const MonitorName = ({ monitorId }: { readonly monitorId: MonitorId }) => {
  const { workspaceId } = useWorkspace()
  return useMonitorName(workspaceId, monitorId) ?? <Skeleton className="inline-block h-4 w-32" />
}
