import type { Monitor } from "@scheduling/sdk"

const pages = {
  heartbeat: "/w/$workspaceId/monitors/heartbeat/$monitorId",
  ssl: "/w/$workspaceId/monitors/ssl/$monitorId",
  process: "/w/$workspaceId/monitors/process/$monitorId"
} as const

const editPages = {
  heartbeat: "/w/$workspaceId/monitors/heartbeat/$monitorId/edit",
  ssl: "/w/$workspaceId/monitors/ssl/$monitorId/edit",
  process: "/w/$workspaceId/monitors/process/$monitorId/edit"
} as const

export type KnownMonitor = Pick<Monitor, "id" | "kind" | "workspace_id">

const paramsOf = ({ id, workspace_id }: KnownMonitor) => ({
  workspaceId: workspace_id,
  monitorId: id
})

/** Where a monitor of any kind is shown. */
export const monitorLink = (monitor: KnownMonitor) => ({
  to: pages[monitor.kind],
  params: paramsOf(monitor)
})

export const editMonitorLink = (monitor: KnownMonitor) => ({
  to: editPages[monitor.kind],
  params: paramsOf(monitor)
})
