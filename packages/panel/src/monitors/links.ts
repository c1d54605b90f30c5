import type { Monitor } from "@scheduling/sdk"

const pages = {
  heartbeat: "/w/$workspaceId/monitors/heartbeat/$monitorId",
  ssl: "/w/$workspaceId/monitors/ssl/$monitorId",
  // The list shows what there is to see of one.
  process: "/w/$workspaceId/monitors"
} as const

const editPages = {
  heartbeat: "/w/$workspaceId/monitors/heartbeat/$monitorId/edit",
  ssl: "/w/$workspaceId/monitors/ssl/$monitorId/edit",
  process: "/w/$workspaceId/monitors"
} as const

type Known = Pick<Monitor, "id" | "kind" | "workspace_id">

const paramsOf = ({ id, workspace_id }: Known) => ({ workspaceId: workspace_id, monitorId: id })

/** Where a monitor of any kind is shown. */
export const monitorLink = (monitor: Known) => ({
  to: pages[monitor.kind],
  params: paramsOf(monitor)
})

export const editMonitorLink = (monitor: Known) => ({
  to: editPages[monitor.kind],
  params: paramsOf(monitor)
})
