import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import { maxNamedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import type { Telling } from "./decide.ts"
import type { ToldEvent } from "../Message.ts"

/** Where an event goes to. */
export interface Receiver {
  readonly id: string
  readonly workspace_id: string
  readonly kind: NotificationKind
  readonly keeps_incidents: boolean
  /** Deliveries of it that have not ended. */
  readonly unfinished: number
  /** The newest of them, if it is still open to more. */
  readonly open: string | undefined
}

/** An event and one channel that is to be told of it. */
export interface Told {
  readonly receiver: Receiver
  readonly event: ToldEvent
  readonly telling: Telling
  /** Of the incident that it ends. */
  readonly incident_key: string | undefined
  /** Of the monitor's incident that it tells of. */
  readonly incident_id: string | undefined
  readonly due_at: Date
  /** False: it is told on its own, as the workspace wants it. */
  readonly groups: boolean
}

/** What is added to a delivery, or what a new one begins with. */
export interface Draft {
  readonly id: string
  readonly receiver: Receiver
  readonly isNew: boolean
  readonly incident_key: string | null
  readonly mergeable: boolean
  readonly due_at: Date
  begun: number
  ended: number
  other: number
  readonly shown: Array<ToldEvent>
  readonly subjects: Set<string>
  readonly incidents: Set<string>
  /** Those of them whose trouble begins here. */
  readonly opened: Set<string>
  /** Drafts of the same batch that are about the same, and come first. */
  readonly after: Set<string>
}

/** With so many deliveries waiting, what comes is gathered, whatever the settings say. */
const crowded = 20

/**
 * Puts events into deliveries. A channel gets one that all of them are in, until it is sent; one that
 * keeps incidents gets one for each subject, under the subject's key, as it has to close what it
 * opened. In a storm it gets one incident for all that is too much.
 */
export const gather = (told: ReadonlyArray<Told>, nextId: () => string): ReadonlyArray<Draft> => {
  const drafts: Array<Draft> = []
  const open = new Map<string, Draft>()
  const count = new Map<string, number>()
  const latest = new Map<string, Draft>()

  const begin = (one: Told, fields: Pick<Draft, "id" | "isNew" | "incident_key" | "mergeable">) => {
    const draft: Draft = {
      ...fields,
      receiver: one.receiver,
      due_at: one.due_at,
      begun: 0,
      ended: 0,
      other: 0,
      shown: [],
      subjects: new Set(),
      incidents: new Set(),
      opened: new Set(),
      after: new Set()
    }
    drafts.push(draft)
    count.set(one.receiver.id, unfinishedOf(one.receiver) + 1)
    if (draft.mergeable) open.set(one.receiver.id, draft)
    else open.delete(one.receiver.id)
    return draft
  }

  const unfinishedOf = ({ id, unfinished }: Receiver) => count.get(id) ?? unfinished

  const draftFor = (one: Told): Draft => {
    const { event, incident_key, receiver, telling } = one
    const isCrowded = unfinishedOf(receiver) >= crowded
    if (receiver.keeps_incidents) {
      if (telling === "ended" || !isCrowded) {
        const key = telling === "begun" ? event.subject_id : (incident_key ?? null)
        return begin(one, { id: nextId(), isNew: true, incident_key: key, mergeable: false })
      }
    }
    if (one.groups || isCrowded) {
      const known = open.get(receiver.id)
      if (known !== undefined) return known
      // One that is open already was not sent to anybody, and nothing came after it.
      if (receiver.open !== undefined && !count.has(receiver.id)) {
        return begin(one, {
          id: receiver.open,
          isNew: false,
          incident_key: null,
          mergeable: true
        })
      }
    }
    const id = nextId()
    return begin(one, {
      id,
      isNew: true,
      incident_key: receiver.keeps_incidents ? id : null,
      mergeable: true
    })
  }

  for (const one of told) {
    const draft = draftFor(one)
    const { event, receiver, telling } = one
    draft[telling === "reminder" ? "begun" : telling]++
    if (draft.shown.length < maxNamedEvents) draft.shown.push(event)
    draft.subjects.add(event.subject_id)
    if (one.incident_id !== undefined) draft.incidents.add(one.incident_id)
    if (telling === "begun") draft.opened.add(event.subject_id)
    const place = `${receiver.id} ${event.subject_id}`
    const before = latest.get(place)
    if (before !== undefined && before !== draft) draft.after.add(before.id)
    latest.set(place, draft)
  }
  return drafts
}
