import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { MessageEvent } from "../kinds/Message.ts"

/** A delivery to write, or events to add to a waiting delivery. */
export interface NewDelivery {
  readonly id: string
  /** If false, the events are added to the delivery with this id. */
  readonly is_new: boolean
  readonly workspace_id: string
  /** Null for a callback, which has a `target` instead. */
  readonly channel_id: string | null
  readonly channel_kind: DeliveryKind
  readonly target: string | null
  readonly status: "queued" | "dropped"
  readonly error: string | null
  readonly incident_key: string | null
  /** True if later events can be added while the delivery waits. */
  readonly mergeable: boolean
  readonly due_at: Date
  begun: number
  ended: number
  other: number
  /** The first events, which the message shows. */
  readonly shown: Array<MessageEvent>
  readonly subjects: Set<string>
  readonly incidents: Set<string>
  /** The subjects whose problem begins with this delivery. */
  readonly opened: Set<string>
  /** The same batch's deliveries about the same subjects that must be sent before this one. */
  readonly after: Set<string>
}

/** Creates a delivery. A delivery without events is an email channel's confirmation email. */
export const newDelivery = (
  fields: Pick<NewDelivery, "id" | "workspace_id" | "channel_kind" | "due_at"> &
    Partial<NewDelivery>
): NewDelivery => ({
  is_new: true,
  channel_id: null,
  target: null,
  status: "queued",
  error: null,
  incident_key: null,
  mergeable: false,
  begun: 0,
  ended: 0,
  other: 0,
  shown: [],
  subjects: new Set(),
  incidents: new Set(),
  opened: new Set(),
  after: new Set(),
  ...fields
})
