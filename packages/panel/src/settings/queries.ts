import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queryClient, workspacesOptions } from "../data/queries.ts"
import type { AuditSearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "settings"] as const

export const workspaceOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: all(workspaceId),
    queryFn: ({ signal }) => clientOf(workspaceId).workspaces.get(workspaceId, { signal })
  })

export const auditOptions = (workspaceId: WorkspaceId, { from, to, ...search }: AuditSearch) =>
  listOptions(["w", workspaceId, "audit", { ...search, from, to }], (cursor, signal) =>
    clientOf(workspaceId).workspaces.listAuditEvents(
      {
        ...search,
        ...(from !== undefined && { from: midnight(from, 0) }),
        ...(to !== undefined && { to: midnight(to, 1) }),
        cursor,
        limit: 100
      },
      { signal }
    )
  )

/** Returns the local midnight that starts a day, or the day `later` days after it. */
const midnight = (day: string, later: number): string => {
  const at = new Date(`${day}T00:00`)
  at.setDate(at.getDate() + later)
  return at.toISOString()
}

export const refetchWorkspace = (workspaceId: WorkspaceId): Promise<unknown> =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: all(workspaceId) }),
    queryClient.invalidateQueries(workspacesOptions)
  ])
