import type { NotificationChannelId, NotificationDeliveryId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"
import type { DeliverySearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "notifications"] as const

/** The query for all channels. A workspace has at most 100, which fit on one page. */
export const channelsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "channels"],
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).notifications.listChannels({ limit: 100 }, { signal })).data
  })

export const channelOptions = (workspaceId: WorkspaceId, channelId: NotificationChannelId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "channels", channelId],
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getChannel(channelId, { signal })
  })

export const kindsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "kinds"],
    staleTime: 10 * 60_000,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).notifications.listKinds({ signal })).data
  })

export const settingsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "settings"],
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getSettings({ signal })
  })

export const deliveryListOptions = (workspaceId: WorkspaceId, search: DeliverySearch) =>
  listOptions([...all(workspaceId), "deliveries", search], (cursor, signal) =>
    clientOf(workspaceId).notifications.listDeliveries({ ...search, cursor, limit: 50 }, { signal })
  )

export const deliveryOptions = (workspaceId: WorkspaceId, deliveryId: NotificationDeliveryId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "delivery", deliveryId],
    queryFn: ({ signal }) => clientOf(workspaceId).notifications.getDelivery(deliveryId, { signal })
  })

/** Refetches all notification queries after a change. */
export const notificationsChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
