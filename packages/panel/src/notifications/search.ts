import type { DeliveryStatus } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../ui/search.ts"

/** What the list of deliveries is narrowed to. */
export interface DeliverySearch {
  readonly status?: DeliveryStatus
  readonly channel_id?: string
}

const statuses = ["queued", "sending", "delivered", "failed", "cancelled"] as const

export const deliverySearch = ({ channel_id, status }: Record<string, unknown>): DeliverySearch =>
  given({ status: oneOf(statuses, status), channel_id: textIn(channel_id) })

export const newChannelSearch = ({ kind }: Record<string, unknown>): { readonly kind?: string } =>
  given({ kind: textIn(kind) })
