import type { WorkspaceId } from "@scheduling/sdk"
import { loadList, queries } from "../data/queries.ts"
import { executionListOptions, statsOptions } from "../executions/queries.ts"
import { forecastOptions, upcomingOptions } from "../forecast/queries.ts"
import { failingNowOptions } from "./failingNow.ts"

export const lastDay = { bucket: "hour" } as const

export const latestFailures = { status: "failed" } as const

/** For the loader of the overview: what it shows is asked for while its code is on the way. */
export const askForOverview = (workspaceId: WorkspaceId): void => {
  void queries.prefetchQuery(statsOptions(workspaceId, lastDay))
  void queries.prefetchQuery(forecastOptions(workspaceId, 1))
  void queries.prefetchQuery(upcomingOptions(workspaceId))
  void queries.prefetchQuery(failingNowOptions(workspaceId))
  loadList(executionListOptions(workspaceId, latestFailures))
}
