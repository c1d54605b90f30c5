import type { MonitorId, WorkspaceId } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"
import type { MonitorSearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "monitors"] as const

export const monitorListOptions = (workspaceId: WorkspaceId, search: MonitorSearch) =>
  listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
    clientOf(workspaceId).monitors.list({ ...search, cursor, limit: 100 }, { signal })
  )

export const monitorCountsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "counts"],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).monitors.list({ limit: 1 }, { signal })).counts
  })

export const heartbeatOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "heartbeat", monitorId],
    queryFn: ({ signal }) => clientOf(workspaceId).heartbeatMonitors.get(monitorId, { signal })
  })

export const heartbeatEventsOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  listOptions([...all(workspaceId), "heartbeat", monitorId, "events"], (cursor, signal) =>
    clientOf(workspaceId).heartbeatMonitors.events(monitorId, { cursor, limit: 50 }, { signal })
  )

export const sslOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "ssl", monitorId],
    queryFn: ({ signal }) => clientOf(workspaceId).sslMonitors.get(monitorId, { signal })
  })

export const sslEventsOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  listOptions([...all(workspaceId), "ssl", monitorId, "events"], (cursor, signal) =>
    clientOf(workspaceId).sslMonitors.events(monitorId, { cursor, limit: 50 }, { signal })
  )

export const processOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "process", monitorId],
    queryFn: ({ signal }) => clientOf(workspaceId).processMonitors.get(monitorId, { signal })
  })

export const processEventsOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  listOptions([...all(workspaceId), "process", monitorId, "events"], (cursor, signal) =>
    clientOf(workspaceId).processMonitors.events(monitorId, { cursor, limit: 50 }, { signal })
  )

/** Live events report status changes only, so the rest is polled. */
export const askEvery = 5_000

/** The events of a monitor, while no more than the newest of them are shown. */
export const askForEvents = {
  refetchInterval: ({
    state: { data }
  }: {
    readonly state: { readonly data: { readonly pages: ReadonlyArray<unknown> } | undefined }
  }) => ((data?.pages.length ?? 0) > 1 ? false : askEvery)
}

/** After a change: what is shown of monitors is asked for again, and so are their names. */
export const monitorsChanged = async (workspaceId: WorkspaceId): Promise<void> => {
  await Promise.all([
    queries.invalidateQueries({ queryKey: all(workspaceId) }),
    queries.invalidateQueries({ queryKey: ["w", workspaceId, "monitor-names"] })
  ])
}
