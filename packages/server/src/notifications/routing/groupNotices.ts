import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import {
  type DeliveryKind,
  maxNamedEvents
} from "@scheduling/domain/notifications/NotificationDelivery"
import { kinds } from "../kinds/kinds.ts"
import type { MessageEvent } from "../kinds/Message.ts"
import type { NoticeType } from "./problemAfter.ts"

/** A channel that is enabled and confirmed, with the deliveries that wait for it. */
export interface OpenChannel {
  readonly id: string
  readonly workspace_id: string
  readonly kind: NotificationKind
  /** The number of its unfinished deliveries. */
  readonly unfinished: number
  /** The newest unfinished delivery, if events can still be added to it. */
  readonly open_delivery: string | null
}

/** An event for one channel. */
export interface ChannelNotice {
  readonly channel: OpenChannel
  readonly event: MessageEvent
  readonly type: NoticeType
  /** The key of the incident that the event ends. */
  readonly incident_key: string | undefined
  /** The incident of a monitor that the event is about. */
  readonly incident_id: string | undefined
  readonly due_at: Date
  /** False: the workspace wants a message for each event. */
  readonly groups: boolean
}

/** A new delivery, or what is added to one that waits. */
export interface RoutedDelivery {
  readonly id: string
  readonly is_new: boolean
  readonly workspace_id: string
  readonly channel_id: string | null
  readonly channel_kind: DeliveryKind
  readonly target: string | null
  readonly status: "queued" | "dropped"
  readonly error: string | null
  readonly incident_key: string | null
  /** Whether later events may be added while it waits. */
  readonly mergeable: boolean
  readonly due_at: Date
  begun: number
  ended: number
  other: number
  readonly shown: Array<MessageEvent>
  readonly subjects: Set<string>
  readonly incidents: Set<string>
  /** The subjects whose problem begins with this delivery. */
  readonly opened: Set<string>
  /** Deliveries of the same batch about the same subjects, which are sent first. */
  readonly after: Set<string>
}

export const emptyRoutedDelivery = (
  fields: Pick<RoutedDelivery, "id" | "workspace_id" | "channel_kind" | "due_at"> &
    Partial<RoutedDelivery>
): RoutedDelivery => ({
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

/** With so many unfinished deliveries of a channel, events are grouped whatever the settings say. */
const crowded = 20

/**
 * Groups notices into deliveries. A channel gets one delivery with all events, until it is sent. A
 * channel that keeps incidents gets one delivery per subject, with the key of the subject, because it
 * has to close what it opened. In a storm the surplus shares one incident.
 */
export const groupNotices = (
  notices: ReadonlyArray<ChannelNotice>,
  nextId: () => string
): ReadonlyArray<RoutedDelivery> => {
  const groups = new Groups(nextId)
  for (const notice of notices) groups.add(notice)
  return groups.deliveries
}

class Groups {
  readonly deliveries: Array<RoutedDelivery> = []
  readonly #nextId: () => string
  /** By channel, the delivery to which events can be added. */
  readonly #open = new Map<string, RoutedDelivery>()
  /** By channel, how many deliveries are unfinished. Absent until this batch adds one. */
  readonly #unfinished = new Map<string, number>()
  /** By channel and subject. */
  readonly #latest = new Map<string, RoutedDelivery>()

  constructor(nextId: () => string) {
    this.#nextId = nextId
  }

  add(notice: ChannelNotice): void {
    const { channel, event, incident_id, type } = notice
    const delivery = this.#deliveryFor(notice)
    delivery[type === "reminder" ? "begun" : type]++
    if (delivery.shown.length < maxNamedEvents) delivery.shown.push(event)
    delivery.subjects.add(event.subject_id)
    if (incident_id !== undefined) delivery.incidents.add(incident_id)
    if (type === "begun") delivery.opened.add(event.subject_id)
    const key = `${channel.id} ${event.subject_id}`
    const before = this.#latest.get(key)
    if (before !== undefined && before !== delivery) delivery.after.add(before.id)
    this.#latest.set(key, delivery)
  }

  #deliveryFor(notice: ChannelNotice): RoutedDelivery {
    const { channel, event, groups, incident_key = null, type } = notice
    const { keepsIncidents } = kinds[channel.kind]
    const isCrowded = this.#unfinishedOf(channel) >= crowded
    if (keepsIncidents && (type === "ended" || !isCrowded)) {
      const key = type === "begun" ? event.subject_id : incident_key
      return this.#begin(notice, { incident_key: key })
    }
    if (groups || isCrowded) {
      const known = this.#open.get(channel.id)
      if (known !== undefined) return known
      // A delivery that is still open is not sent yet, and the channel has no later one.
      if (channel.open_delivery !== null && !this.#unfinished.has(channel.id)) {
        return this.#begin(notice, { id: channel.open_delivery, is_new: false, mergeable: true })
      }
    }
    const id = this.#nextId()
    return this.#begin(notice, { id, incident_key: keepsIncidents ? id : null, mergeable: true })
  }

  #begin({ channel, due_at }: ChannelNotice, fields: Partial<RoutedDelivery>): RoutedDelivery {
    const delivery = emptyRoutedDelivery({
      id: fields.id ?? this.#nextId(),
      workspace_id: channel.workspace_id,
      channel_id: channel.id,
      channel_kind: channel.kind,
      due_at,
      ...fields
    })
    this.deliveries.push(delivery)
    this.#unfinished.set(channel.id, this.#unfinishedOf(channel) + 1)
    if (delivery.mergeable) this.#open.set(channel.id, delivery)
    else this.#open.delete(channel.id)
    return delivery
  }

  #unfinishedOf({ id, unfinished }: OpenChannel): number {
    return this.#unfinished.get(id) ?? unfinished
  }
}
