import type { WorkspaceId } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { now } from "../ui/values/clock.ts"
import { timelinePastMs, type View } from "./view.ts"

const iso = (at: number) => new Date(at).toISOString()

/**
 * The longest period that is polled every ten seconds. Longer periods take more time to fetch and
 * change less.
 */
const shortMs = 2 * 86_400_000

/**
 * The query for the timeline. It is polled, because live events would refetch it after every run.
 */
export const timelineOptions = (workspaceId: WorkspaceId, { from, to }: View) =>
  queryOptions({
    queryKey: ["w", workspaceId, "timeline", from, to],
    placeholderData: keepPreviousData,
    refetchInterval: to < now() ? false : to - from > shortMs ? 60_000 : 10_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).activity.timeline({ from: iso(from), to: iso(to) }, { signal })
  })

export const allMonitorsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "monitors", "timeline"],
    queryFn: ({ signal }) =>
      clientOf(workspaceId).monitors.list({ limit: 100 }, { signal }).toArray({ limit: 500 })
  })

export const latestIncidentsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "incidents", "timeline"],
    queryFn: ({ signal }) =>
      clientOf(workspaceId)
        .incidents.list({ from: iso(now() - timelinePastMs), limit: 100 }, { signal })
        .toArray({ limit: 500 })
  })

export const allQueuesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "queues", "timeline"],
    queryFn: ({ signal }) =>
      clientOf(workspaceId).queues.list({ limit: 100 }, { signal }).toArray({ limit: 500 })
  })

export const latestDeliveriesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "notifications", "timeline"],
    refetchInterval: 15_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId)
        .notifications.listDeliveries({ limit: 100 }, { signal })
        .toArray({ limit: 300 })
  })

export const latestChangesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "audit", "timeline"],
    refetchInterval: 15_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId)
        .workspaces.listAuditEvents({ from: iso(now() - timelinePastMs), limit: 100 }, { signal })
        .toArray({ limit: 300 })
  })

/**
 * The query for the ids of failing tasks. It is polled, because live events would refetch it after
 * every run.
 */
export const failingTaskIdsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "failing", "timeline"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) => {
      const { data } = await clientOf(workspaceId).activity.failing({ limit: 100 }, { signal })
      return data.map(({ task_id }) => task_id)
    }
  })
