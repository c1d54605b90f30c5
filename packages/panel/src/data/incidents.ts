import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf } from "./client.ts"

/** What is down right now. Live events ask for it again. */
export const openIncidentsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "incidents", "open"],
    queryFn: async ({ signal }) => {
      const { data, next_cursor } = await clientOf(workspaceId).incidents.list(
        { open: "true", limit: 10 },
        { signal }
      )
      return { data, hasMore: next_cursor !== null }
    }
  })

/** How many incidents are open, as text: `10+` where there are more. Undefined if none is. */
export const useOpenIncidents = (workspaceId: WorkspaceId | undefined): string | undefined => {
  const { data: open } = useQuery({
    ...openIncidentsOptions(workspaceId ?? ""),
    enabled: workspaceId !== undefined
  })
  return open === undefined || open.data.length === 0
    ? undefined
    : `${open.data.length}${open.hasMore ? "+" : ""}`
}
