import type { DeliveryStatus } from "@scheduling/sdk"
import { channelKindNames } from "../data/channelKindNames.ts"
import { oneKeyOf, searchOf, searchTextOf } from "../ui/lists/search.ts"

/** The delivery statuses, in the filter's order. */
export const deliveryStatuses = {
  queued: "Queued",
  sending: "Sending",
  delivered: "Delivered",
  failed: "Failed",
  cancelled: "Cancelled",
  dropped: "Dropped"
} as const satisfies Readonly<Record<DeliveryStatus, string>>

export const deliverySearch = searchOf({
  kind: oneKeyOf(channelKindNames),
  status: oneKeyOf(deliveryStatuses),
  channel_id: searchTextOf
})

export type DeliverySearch = ReturnType<typeof deliverySearch>

export const newChannelSearch = searchOf({ kind: searchTextOf })
