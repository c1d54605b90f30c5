import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import { maxListedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import { channelKinds } from "../kinds/channelKinds.ts"
import type { MessageEvent } from "../kinds/Message.ts"
import { type NewDelivery, newDelivery } from "../sending/newDelivery.ts"
import type { NoticeType } from "./problemAfter.ts"

/** A channel that is confirmed and not paused, with its waiting deliveries. */
export interface ActiveChannel {
  readonly id: string
  readonly workspace_id: string
  readonly kind: NotificationKind
  /** How many of the channel's deliveries are unfinished. */
  readonly unfinished: number
  /** The newest unfinished delivery, if events can still be added to it. */
  readonly open_delivery: string | null
}

/** An event for one channel. */
export interface ChannelNotice {
  readonly channel: ActiveChannel
  readonly event: MessageEvent
  readonly type: NoticeType
  /** The incident's deduplication key, if the event ends one. */
  readonly incident_key: string | undefined
  /** The incident that the event belongs to. */
  readonly incident_id: string | undefined
  readonly due_at: Date
  /** False if the workspace wants a separate message for each event. */
  readonly groups: boolean
  /** True if the event must be sent in a separate message. */
  readonly isAlone: boolean
}

/**
 * If a channel has this many unfinished deliveries, events are grouped regardless of the settings.
 */
const groupingThreshold = 20

/**
 * Groups notices into deliveries. A channel receives one delivery with all events that occur until
 * it is sent. A channel that keeps incidents receives one delivery per subject, with the subject's
 * key, because the channel must later close what it has opened. If too many deliveries wait,
 * further subjects share one incident.
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
  /** The deliveries to which events can still be added, by channel. */
  readonly #open = new Map<string, NewDelivery>()
  /**
   * The number of unfinished deliveries, by channel. Contains only the channels for which this
   * batch has created a delivery.
   */
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
    if (delivery.shown.length < maxListedEvents) delivery.shown.push(event)
    delivery.subjects.add(event.subject_id)
    if (incident_id !== undefined) delivery.incidents.add(incident_id)
    if (type === "begun") delivery.opened.add(event.subject_id)
    const key = `${channel.id} ${event.subject_id}`
    const before = this.#latest.get(key)
    if (before !== undefined && before !== delivery) delivery.after.add(before.id)
    this.#latest.set(key, delivery)
  }

  #deliveryFor(notice: ChannelNotice): NewDelivery {
    const { channel, event, groups, incident_key = null, isAlone, type } = notice
    if (isAlone) return this.#begin(notice, {})
    const { keepsIncidents } = channelKinds[channel.kind]
    const isCrowded = this.#unfinishedOf(channel) >= groupingThreshold
    if (keepsIncidents && (type === "ended" || !isCrowded)) {
      const key = type === "begun" ? event.subject_id : incident_key
      return this.#begin(notice, { incident_key: key })
    }
    if (groups || isCrowded) {
      const known = this.#open.get(channel.id)
      if (known !== undefined) return known
      // Events can be added to the stored delivery only while it is the channel's newest delivery.
      // Once this batch creates another one, it no longer is.
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

  #unfinishedOf({ id, unfinished }: ActiveChannel): number {
    return this.#unfinished.get(id) ?? unfinished
  }
}
