import type {
  MonitorId,
  MonitorsListQuery,
  Page,
  PageQuery,
  RequestOptions,
  WorkspaceId
} from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { useMemo } from "react"
import { clientOf } from "../data/client.ts"
import { listOptions, queryClient, useList } from "../data/queries.ts"
import type { VersionedResource } from "../versions/Versions.tsx"
import type { MonitorSearch } from "./search.ts"

export const monitorsQueryKey = (workspaceId: WorkspaceId) =>
  ["w", workspaceId, "monitors"] as const

const monitorListOptions = (workspaceId: WorkspaceId, query: MonitorsListQuery) =>
  listOptions([...monitorsQueryKey(workspaceId), "list", query], (cursor, signal) =>
    clientOf(workspaceId).monitors.list({ ...query, cursor, limit: 100 }, { signal })
  )

/** The statuses of monitors that have a problem, worst first. */
const problemStatuses = ["down", "late", "warning"] as const

/**
 * Returns the monitors that have a problem, worst first, and then the other ones, newest first. The
 * API lists them by age, so those with a problem are fetched separately.
 */
export const useMonitorList = (workspaceId: WorkspaceId, search: MonitorSearch) => {
  const all = useList(monitorListOptions(workspaceId, search))
  const mixesStatuses = search.status === undefined
  const problems = useList({
    ...monitorListOptions(workspaceId, { ...search, status: problemStatuses }),
    enabled: mixesStatuses
  })
  const rows = useMemo(() => {
    const first = problemStatuses.flatMap((one) =>
      problems.rows.filter((row) => row.status === one)
    )
    const known = new Set(first.map(({ id }) => id))
    return [...first, ...all.rows.filter(({ id }) => !known.has(id))]
  }, [problems.rows, all.rows])
  return { ...all, rows, isLoading: all.isLoading || (mixesStatuses && problems.isLoading) }
}

export const monitorCountsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...monitorsQueryKey(workspaceId), "counts"],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).monitors.list({ limit: 1 }, { signal })).counts
  })

/** The SDK methods that the pages of a monitor kind use. */
export interface MonitorResource<Monitor, Event, Input> extends VersionedResource {
  readonly get: (id: MonitorId, options: RequestOptions) => PromiseLike<Monitor>
  readonly listEvents: (
    id: MonitorId,
    query: PageQuery,
    options: RequestOptions
  ) => Promise<Page<Event>>
  readonly create: (input: Input) => Promise<Monitor>
  readonly update: (id: MonitorId, changes: Partial<Input>) => Promise<unknown>
}

export const monitorOptions = <Monitor>(
  resource: Pick<MonitorResource<Monitor, unknown, never>, "get">,
  workspaceId: WorkspaceId,
  monitorId: MonitorId
) =>
  queryOptions({
    queryKey: [...monitorsQueryKey(workspaceId), monitorId],
    queryFn: ({ signal }) => Promise.resolve(resource.get(monitorId, { signal }))
  })

export const monitorEventsOptions = <Monitor, Event, Input>(
  resource: MonitorResource<Monitor, Event, Input>,
  workspaceId: WorkspaceId,
  monitorId: MonitorId
) =>
  listOptions([...monitorsQueryKey(workspaceId), monitorId, "events"], (cursor, signal) =>
    resource.listEvents(
      monitorId,
      { limit: 50, ...(cursor !== undefined && { cursor }) },
      { signal }
    )
  )

/** The polling interval. Live events report only status changes. */
export const pollMonitorMs = 5_000

/** Query options that poll a monitor's events while only the newest page is loaded. */
export const eventPollingOptions = {
  refetchInterval: ({
    state: { data }
  }: {
    readonly state: { readonly data: { readonly pages: ReadonlyArray<unknown> } | undefined }
  }) => ((data?.pages.length ?? 0) > 1 ? false : pollMonitorMs)
}

/** Refetches all monitor queries after a change. */
export const refetchMonitors = async (workspaceId: WorkspaceId): Promise<void> => {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: monitorsQueryKey(workspaceId) }),
    queryClient.invalidateQueries({ queryKey: ["w", workspaceId, "monitor-names"] })
  ])
}
