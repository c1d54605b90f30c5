import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import { maxNamedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import { kinds } from "../kinds/kinds.ts"
import type { MessageEvent } from "../kinds/Message.ts"
import { type NewDelivery, newDelivery } from "../sending/newDelivery.ts"
import type { NoticeType } from "./problemAfter.ts"

/** A channel that is confirmed and not paused, with its waiting deliveries. */
export interface OpenChannel {
  readonly id: string
  readonly workspace_id: string
  readonly kind: NotificationKind
  /** The number of the channel's unfinished deliveries. */
  readonly unfinished: number
  /** The newest unfinished delivery, if events can still be added to it. */
  readonly open_delivery: string | null
}

/** An event for one channel. */
export interface ChannelNotice {
  readonly channel: OpenChannel
  readonly event: MessageEvent
  readonly type: NoticeType
  /** The deduplication key of the incident that the event ends. */
  readonly incident_key: string | undefined
  /** The incident that the event belongs to. */
  readonly incident_id: string | undefined
  readonly due_at: Date
  /** False if the workspace wants a message for each event. */
  readonly groups: boolean
}

/**
 * With this many unfinished deliveries per channel, events are grouped regardless of the settings.
 */
const groupingThreshold = 20

/**
 * Groups notices into deliveries. A channel gets one delivery with all events that occur until it
 * is sent. A channel that keeps incidents gets one delivery per subject, with a key for the
 * subject, because it has to close what it opened. In a storm the excess subjects share one
 * incident.
 */
export const groupNotices = (
  notices: ReadonlyArray<ChannelNotice>,
  nextId: () => string
): ReadonlyArray<NewDelivery> => {
  const groups = new Groups(nextId)
  for (const notice of notices) groups.add(notice)
  return groups.deliveries
}

class Groups {
  readonly deliveries: Array<NewDelivery> = []
  readonly #nextId: () => string
  /** By channel, the delivery to which events can be added. */
  readonly #open = new Map<string, NewDelivery>()
  /** By channel, the number of unfinished deliveries. Absent until this batch adds one. */
  readonly #unfinished = new Map<string, number>()
  /** The latest delivery by channel and subject. */
  readonly #latest = new Map<string, NewDelivery>()

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

  #deliveryFor(notice: ChannelNotice): NewDelivery {
    const { channel, event, groups, incident_key = null, type } = notice
    const { keepsIncidents } = kinds[channel.kind]
    const isCrowded = this.#unfinishedOf(channel) >= groupingThreshold
    if (keepsIncidents && (type === "ended" || !isCrowded)) {
      const key = type === "begun" ? event.subject_id : incident_key
      return this.#begin(notice, { incident_key: key })
    }
    if (groups || isCrowded) {
      const known = this.#open.get(channel.id)
      if (known !== undefined) return known
      // A delivery to which events can be added is not yet sent, and the channel has no later one.
      if (channel.open_delivery !== null && !this.#unfinished.has(channel.id)) {
        return this.#begin(notice, { id: channel.open_delivery, is_new: false, mergeable: true })
      }
    }
    const id = this.#nextId()
    return this.#begin(notice, { id, incident_key: keepsIncidents ? id : null, mergeable: true })
  }

  #begin({ channel, due_at }: ChannelNotice, fields: Partial<NewDelivery>): NewDelivery {
    const delivery = newDelivery({
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
