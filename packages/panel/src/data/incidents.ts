import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf } from "./client.ts"

/** The query for open incidents. Live events invalidate it. */
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

/** Returns the number of open incidents, `10+` for more than ten, or undefined for none. */
export const useOpenIncidentCount = (workspaceId: WorkspaceId | undefined): string | undefined => {
  const { data: open } = useQuery({
    ...openIncidentsOptions(workspaceId ?? ""),
    enabled: workspaceId !== undefined
  })
  return open === undefined || open.data.length === 0
    ? undefined
    : `${open.data.length}${open.hasMore ? "+" : ""}`
}
