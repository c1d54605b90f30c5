import type { UpcomingRun, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { nameFromUrl } from "../data/tasks.ts"
import { now } from "../ui/values/clock.ts"

const dayMs = 86_400_000

export const forecastOptions = (workspaceId: WorkspaceId, days: number) =>
  queryOptions({
    queryKey: ["w", workspaceId, "forecast", days],
    staleTime: 60_000,
    refetchInterval: 60_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).forecast.get(
        days === 1 ? {} : { to: new Date(now() + days * dayMs - 1_000).toISOString() },
        { signal }
      )
  })

export const upcomingOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "cron", "upcoming"],
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).activity.upcoming({ limit: 20 }, { signal })).data
  })

export const upcomingRunName = ({ name, url }: Pick<UpcomingRun, "name" | "url">): string =>
  name ?? (url === null ? "A task without a name" : nameFromUrl(url))
