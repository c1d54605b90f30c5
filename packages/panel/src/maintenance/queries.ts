import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "maintenance"] as const

export const maintenanceOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: all(workspaceId),
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).maintenance.list({ limit: 100 }, { signal })).data
  })

export const refetchMaintenance = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: all(workspaceId) })
