import type {
  Execution,
  ExecutionId,
  ExecutionsListQuery,
  ExecutionsGetStatsQuery,
  Page,
  WorkspaceId
} from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queryClient } from "../data/queries.ts"
import { taskNames } from "../data/tasks.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "executions"] as const

/** Prefetches the task names for one page of executions. */
const withNames = (workspaceId: WorkspaceId, page: Page<Execution>): Page<Execution> => {
  const ids = page.data.map(({ task_id }) => task_id)
  taskNames.prefetch(workspaceId, ids)
  return page
}

export const executionQueries = {
  all,

  list: (workspaceId: WorkspaceId, search: ExecutionsListQuery) =>
    listOptions([...all(workspaceId), "list", search], async (cursor, signal) => {
      const query = { ...search, cursor, limit: 50 }
      return withNames(workspaceId, await clientOf(workspaceId).executions.list(query, { signal }))
    }),

  /** The query for the number of executions on all pages. The service counts up to 10,000. */
  total: (workspaceId: WorkspaceId, search: ExecutionsListQuery) =>
    queryOptions({
      queryKey: [...all(workspaceId), "total", search],
      queryFn: async ({ signal }) => {
        const query = { ...search, total: true, limit: 1 }
        return (await clientOf(workspaceId).executions.list(query, { signal })).total
      }
    }),

  scheduled: (workspaceId: WorkspaceId) =>
    listOptions([...all(workspaceId), "scheduled"], async (cursor, signal) => {
      const query = { cursor, limit: 50 }
      return withNames(
        workspaceId,
        await clientOf(workspaceId).executions.listScheduled(query, { signal })
      )
    }),

  one: (workspaceId: WorkspaceId, executionId: ExecutionId) =>
    queryOptions({
      queryKey: [...all(workspaceId), executionId],
      queryFn: ({ signal }) => clientOf(workspaceId).executions.get(executionId, {}, { signal })
    }),

  /** The query key for statistics. A task's statistics are refetched after its runs. */
  statsKey: (workspaceId: WorkspaceId, query: object) =>
    [...all(workspaceId), "stats", query] as const,

  stats: (workspaceId: WorkspaceId, query: ExecutionsGetStatsQuery) =>
    queryOptions({
      queryKey: executionQueries.statsKey(workspaceId, query),
      refetchInterval: 15_000,
      queryFn: ({ signal }) => clientOf(workspaceId).executions.getStats(query, { signal })
    }),

  /** Refetches all execution queries after a change. */
  changed: (workspaceId: WorkspaceId): Promise<void> =>
    queryClient.invalidateQueries({ queryKey: all(workspaceId) })
}
