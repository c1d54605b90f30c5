import type {
  ExecutionId,
  ExecutionsListQuery,
  ExecutionsStatsQuery,
  WorkspaceId
} from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"
import { askForNames } from "../data/tasks.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "executions"] as const

export const executionListOptions = (workspaceId: WorkspaceId, search: ExecutionsListQuery) =>
  listOptions([...all(workspaceId), "list", search], async (cursor, signal) => {
    const query = { ...search, cursor, limit: 50 }
    const page = await clientOf(workspaceId).executions.list(query, { signal })
    askForNames(
      workspaceId,
      page.data.map(({ task_id }) => task_id)
    )
    return page
  })

/** Executions scheduled for later, soonest first. */
export const scheduledListOptions = (workspaceId: WorkspaceId) =>
  listOptions([...all(workspaceId), "scheduled"], async (cursor, signal) => {
    const page = await clientOf(workspaceId).executions.scheduled({ cursor, limit: 50 }, { signal })
    askForNames(
      workspaceId,
      page.data.map(({ task_id }) => task_id)
    )
    return page
  })

export const executionOptions = (workspaceId: WorkspaceId, executionId: ExecutionId) =>
  queryOptions({
    queryKey: [...all(workspaceId), executionId],
    queryFn: ({ signal }) => clientOf(workspaceId).executions.get(executionId, {}, { signal })
  })

export const statsOptions = (workspaceId: WorkspaceId, query: ExecutionsStatsQuery) =>
  queryOptions({
    queryKey: [...all(workspaceId), "stats", query],
    refetchInterval: 15_000,
    queryFn: ({ signal }) => clientOf(workspaceId).executions.stats(query, { signal })
  })

/** After a change: what is shown of executions is asked for again. */
export const executionsChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
