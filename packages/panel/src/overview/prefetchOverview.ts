import type { ExecutionsListQuery, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { listOptions, prefetchList, queryClient } from "../data/queries.ts"
import { executionQueries } from "../executions/queries.ts"
import { upcomingOptions } from "../forecast/queries.ts"
import { now } from "../ui/values/clock.ts"

export const lastDayQuery = { bucket: "hour" } as const

export const quarterHourMs = 15 * 60_000

/** The query for all runs in the last 48 hours, in 15-minute buckets. */
export const lastTwoDaysOptions = (workspaceId: WorkspaceId, now: number) => {
  const end = Math.floor(now / quarterHourMs + 1) * quarterHourMs
  const [from, to] = [end - 192 * quarterHourMs, end].map((at) => new Date(at).toISOString())
  return queryOptions({
    queryKey: ["w", workspaceId, "timeline", "overview", to],
    refetchInterval: 15_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).activity.timeline({ from, to, by_task: false }, { signal })
  })
}

export const latestFailuresSearch = { status: "failed" } as const

/**
 * The query for the latest failures. Unlike other lists of executions, it does not prefetch the
 * names of the listed tasks. The overview rarely needs them, because it leaves out tasks that it
 * lists elsewhere.
 */
export const latestFailuresOptions = (workspaceId: WorkspaceId, search: ExecutionsListQuery) =>
  listOptions(["w", workspaceId, "executions", "failures", search], (cursor, signal) =>
    clientOf(workspaceId).executions.list({ ...search, cursor, limit: 50 }, { signal })
  )

export const maxFailingTasks = 8

/**
 * The query for failing tasks. It is polled, because live events would refetch it after every run.
 */
export const failingTasksOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "failing"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).activity.failing({ limit: maxFailingTasks }, { signal })).data
  })

/** Prefetches the overview's data while its code loads. */
export const prefetchOverview = (workspaceId: WorkspaceId): void => {
  void queryClient.prefetchQuery(executionQueries.stats(workspaceId, lastDayQuery))
  void queryClient.prefetchQuery(lastTwoDaysOptions(workspaceId, now()))
  void queryClient.prefetchQuery(upcomingOptions(workspaceId))
  void queryClient.prefetchQuery(failingTasksOptions(workspaceId))
  void queryClient.prefetchQuery(openIncidentsOptions(workspaceId))
  prefetchList(latestFailuresOptions(workspaceId, latestFailuresSearch))
}
