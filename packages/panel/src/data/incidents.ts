import type { Incident, WorkspaceId } from "@scheduling/sdk"
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

/**
 * Returns the open incident of a task or monitor. It is fetched on its own only if the workspace has
 * more open incidents than the list that all pages load.
 */
export const useOpenIncident = (
  workspaceId: WorkspaceId,
  subjectId: string
): Incident | undefined => {
  const { data: open } = useQuery(openIncidentsOptions(workspaceId))
  const listed = open?.data.find(({ subject }) => subject.id === subjectId)
  const { data: own } = useQuery({
    queryKey: ["w", workspaceId, "incidents", "open", subjectId],
    enabled: open?.hasMore === true && listed === undefined,
    queryFn: async ({ signal }) => {
      const query = { open: "true", subject_id: subjectId, limit: 1 } as const
      return (await clientOf(workspaceId).incidents.list(query, { signal })).data
    }
  })
  return listed ?? own?.[0]
}

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
