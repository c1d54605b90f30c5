import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "status-pages"] as const

export const statusPagesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: all(workspaceId),
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).statusPages.list({ limit: 100 }, { signal })).data
  })

export const refetchStatusPages = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: all(workspaceId) })

export const statusPageUrl = (slug: string): string => `${location.origin}/status/${slug}`
