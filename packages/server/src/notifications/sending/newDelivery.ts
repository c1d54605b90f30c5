import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { ChannelRow } from "../channels/ChannelsRepo.ts"
import { patienceMs } from "./afterAttempt.ts"
import type { DeliveryRow } from "./DeliveriesRepo.ts"

/** A delivery without events. Sent as it is, it is the mail that asks an address for consent. */
export const newDelivery = (
  id: string,
  channel: Pick<ChannelRow, "workspace_id"> & {
    readonly id: string | null
    readonly kind: DeliveryKind
  },
  now: Date
): DeliveryRow => ({
  id,
  workspace_id: channel.workspace_id,
  channel_id: channel.id,
  channel_kind: channel.kind,
  target: null,
  status: "queued",
  begun: 0,
  ended: 0,
  other: 0,
  shown: [],
  subjects: [],
  incident_key: null,
  mergeable: false,
  due_at: now,
  give_up_at: new Date(now.getTime() + patienceMs),
  attempts_count: 0,
  status_code: null,
  error: null,
  created_at: now,
  finished_at: null
})
