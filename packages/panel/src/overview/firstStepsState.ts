import type { WorkspaceId } from "@scheduling/sdk"

/** Whether the first steps of a workspace are shown to this reader. It is asked about nowhere else. */
const keyOf = (workspaceId: WorkspaceId) => `first-steps:${workspaceId}`

export const areBegun = (workspaceId: WorkspaceId): boolean =>
  localStorage.getItem(keyOf(workspaceId)) === "begun"

export const areOver = (workspaceId: WorkspaceId): boolean =>
  localStorage.getItem(keyOf(workspaceId)) === "over"

export const begin = (workspaceId: WorkspaceId): void =>
  localStorage.setItem(keyOf(workspaceId), "begun")

export const end = (workspaceId: WorkspaceId): void =>
  localStorage.setItem(keyOf(workspaceId), "over")
