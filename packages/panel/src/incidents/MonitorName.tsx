import type { MonitorKind } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { useMonitorName } from "../data/names.ts"
import { Skeleton } from "../ui/Page.tsx"

export const MonitorName = ({
  kind,
  monitorId
}: {
  readonly kind: MonitorKind
  readonly monitorId: string
}) => {
  const { workspaceId } = useWorkspace()
  return (
    useMonitorName(workspaceId, kind, monitorId) ?? <Skeleton className="inline-block h-4 w-32" />
  )
}
