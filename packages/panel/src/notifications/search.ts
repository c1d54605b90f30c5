import type { DeliveryKind, DeliveryStatus } from "@scheduling/sdk"
import { kindNames } from "../data/kindName.ts"
import { given, keyIn, textIn } from "../ui/lists/search.ts"

/** What the list of deliveries is narrowed to. */
export interface DeliverySearch {
  readonly kind?: DeliveryKind
  readonly status?: DeliveryStatus
  readonly channel_id?: string
}

/** The statuses of deliveries, in the order in which the filter offers them. */
export const deliveryStatuses = {
  queued: "Queued",
  sending: "Sending",
  delivered: "Delivered",
  failed: "Failed",
  cancelled: "Cancelled",
  dropped: "Dropped"
} as const satisfies Readonly<Record<DeliveryStatus, string>>

export const deliverySearch = ({
  channel_id,
  kind,
  status
}: Record<string, unknown>): DeliverySearch =>
  given({
    kind: keyIn(kindNames, kind),
    status: keyIn(deliveryStatuses, status),
    channel_id: textIn(channel_id)
  })

export const newChannelSearch = ({ kind }: Record<string, unknown>): { readonly kind?: string } =>
  given({ kind: textIn(kind) })
