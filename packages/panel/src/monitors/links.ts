import type { Monitor } from "@scheduling/sdk"

type KnownMonitor = Pick<Monitor, "id" | "kind" | "workspace_id">

const paramsOf = ({ id, kind, workspace_id }: KnownMonitor) => ({
  workspaceId: workspace_id,
  kind,
  monitorId: id
})

export const monitorLink = (monitor: KnownMonitor) => ({
  to: "/w/$workspaceId/monitors/$kind/$monitorId" as const,
  params: paramsOf(monitor)
})

export const editMonitorLink = (monitor: KnownMonitor) => ({
  to: "/w/$workspaceId/monitors/$kind/$monitorId/edit" as const,
  params: paramsOf(monitor)
})
