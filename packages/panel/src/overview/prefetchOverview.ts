import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { prefetchList, queries } from "../data/queries.ts"
import { executionQueries } from "../executions/queries.ts"
import { forecastOptions, upcomingOptions } from "../forecast/queries.ts"

export const lastDay = { bucket: "hour" } as const

export const latestFailures = { status: "failed" } as const

/** A polled query, because live events would refetch it after every run. */
export const failingOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "failing"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).activity.failing({ limit: 8 }, { signal })).data
  })

/** Prefetches the data of the overview while its code loads. */
export const prefetchOverview = (workspaceId: WorkspaceId): void => {
  void queries.prefetchQuery(executionQueries.stats(workspaceId, lastDay))
  void queries.prefetchQuery(forecastOptions(workspaceId, 1))
  void queries.prefetchQuery(upcomingOptions(workspaceId))
  void queries.prefetchQuery(failingOptions(workspaceId))
  prefetchList(executionQueries.list(workspaceId, latestFailures))
}
