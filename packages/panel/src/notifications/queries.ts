import type { NotificationChannelId, NotificationDeliveryId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queryClient } from "../data/queries.ts"
import { notificationsQueryKey } from "../recipients/queries.ts"
import type { DeliverySearch } from "./search.ts"

/** The query for all channels. A workspace has at most 100, which fit on one page. */
export const channelsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "channels"],
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).notifications.listChannels({ limit: 100 }, { signal })).data
  })

export const channelOptions = (workspaceId: WorkspaceId, channelId: NotificationChannelId) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "channels", channelId],
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getChannel(channelId, { signal })
  })

export const channelKindsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "kinds"],
    staleTime: 10 * 60_000,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).notifications.listKinds({ signal })).data
  })

/** The query for all escalation policies. A workspace has at most 20. */
export const escalationsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "escalations"],
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).escalations.list({ limit: 100 }, { signal })).data
  })

export const deliveryListOptions = (workspaceId: WorkspaceId, search: DeliverySearch) =>
  listOptions([...notificationsQueryKey(workspaceId), "deliveries", search], (cursor, signal) =>
    clientOf(workspaceId).notifications.listDeliveries({ ...search, cursor, limit: 50 }, { signal })
  )

export const deliveryOptions = (workspaceId: WorkspaceId, deliveryId: NotificationDeliveryId) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "delivery", deliveryId],
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getDelivery(deliveryId, { signal })
  })

/** Refetches all notification queries after a change. */
export const refetchNotifications = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: notificationsQueryKey(workspaceId) })
