import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "secrets"] as const

/**
 * The query for all of a workspace's secrets, without their values. Viewers are not allowed to list
 * them.
 */
export const secretsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: all(workspaceId),
    queryFn: ({ signal }) =>
      clientOf(workspaceId).secrets.list({ limit: 100 }, { signal }).toArray({ limit: 10_000 })
  })

export const refetchSecrets = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: all(workspaceId) })
