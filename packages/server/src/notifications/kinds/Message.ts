import {
  type DeliveredEvent,
  isRecovery,
  isProblem
} from "@scheduling/domain/notifications/NotificationEvent"
import { truncate, toOneLine } from "../../core/index.ts"
import type { EventData } from "../../events/index.ts"

/** An event as it is stored in a delivery. */
export interface MessageEvent {
  readonly event: DeliveredEvent
  readonly subject_id: string
  readonly name: string
  readonly reason: string | null
  readonly at: string
  /** The event's data in webhooks. Its `notice` is added when the webhook is sent. */
  readonly data: EventData
  readonly facts: ReadonlyArray<MessageFact>
  /** True for a reminder of an ongoing problem that was announced earlier. */
  readonly reminder?: boolean
  /** The incident that the recipients can acknowledge. */
  readonly incident_id?: string
}

/** A labelled detail of a message. */
export interface MessageFact {
  readonly name: string
  readonly value: string
}

/**
 * The labels of the detail that lists which dependents of a subject are down. Messages about
 * outages and messages about recoveries use different labels.
 */
export const dependentsFactNames = { down: "Also down", up: "Still down" } as const

/** Whether a message is about a problem, a recovery or something else, for its colour. */
export type MessageTone = "down" | "up" | "other"

export const toneOf = (event: DeliveredEvent): MessageTone =>
  isProblem(event) ? "down" : isRecovery(event) ? "up" : "other"

/** The content of a delivery, which each kind formats. All strings are plain text on one line. */
export interface Message {
  /** The delivery's id, which is the same for every attempt. */
  readonly id: string
  readonly workspace: { readonly id: string; readonly name: string }
  readonly tone: MessageTone
  readonly title: string
  /** The cause of one event, or one line for each of several events. */
  readonly lines: ReadonlyArray<string>
  /**
   * The labelled details of one event. Empty if the message is about several events, whose lines
   * name the dependents.
   */
  readonly facts: ReadonlyArray<MessageFact>
  readonly events: ReadonlyArray<MessageEvent>
  readonly count: number
  readonly created_at: Date
  /** The incident's deduplication key, for providers that keep incidents. */
  readonly incident_key: string
}

/** How many of a delivery's events begin a problem, end one, or do neither. */
export interface GroupCounts {
  readonly begun: number
  readonly ended: number
  readonly other: number
}

/** The fields of a delivery from which its message is created. */
export interface MessageSource extends GroupCounts {
  readonly id: string
  readonly workspace_id: string
  readonly workspace_name: string
  readonly shown: ReadonlyArray<MessageEvent>
  readonly incident_key: string | null
  readonly created_at: Date
}

export const messageOf = (source: MessageSource): Message => {
  const { begun, ended, other, shown } = source
  const [only] = shown
  const count = begun + ended + other
  const isOne = count === 1 && only !== undefined
  const more = count - shown.length
  return {
    id: source.id,
    workspace: { id: source.workspace_id, name: toOneLine(source.workspace_name) },
    tone: begun > 0 ? "down" : ended > 0 ? "up" : "other",
    title: truncate(isOne ? eventTitleOf(only) : groupTitle(source), 140),
    lines: isOne
      ? only.reason === null
        ? []
        : [truncate(toOneLine(only.reason), 500)]
      : [
          ...shown.map((event) => truncate(eventLine(event), 200) + dependentsOf(event)),
          ...(more > 0 ? [`and ${more.toLocaleString("en")} more`] : [])
        ],
    facts: isOne
      ? only.facts.map(({ name, value }) => ({ name, value: truncate(toOneLine(value), 300) }))
      : [],
    events: shown,
    count,
    created_at: source.created_at,
    incident_key: source.incident_key ?? source.id
  }
}

/** Formats a message without any markup: title, lines and details. */
export const plainText = (message: Message): string =>
  [message.title, ...bodyLines(message)].join("\n")

export const bodyLines = ({ facts, lines, workspace }: Message): ReadonlyArray<string> => [
  ...lines,
  ...facts.map(({ name, value }) => `${name}: ${value}`),
  `Workspace: ${workspace.name}`
]

const eventLabels: Readonly<Record<DeliveredEvent, string>> = {
  "execution.failed": "Failed",
  "execution.succeeded": "Succeeded",
  "task.recovered": "Recovered",
  "task.paused": "Paused",
  "approval.requested": "Approval needed",
  "chain_run.failed": "Failed",
  "chain_run.succeeded": "Succeeded",
  "incident.opened": "Down",
  "incident.closed": "Up again",
  "certificate.expiring": "Certificate expires soon",
  "certificate.changed": "Certificate changed",
  "worker.offline": "Offline",
  "worker.online": "Online again",
  "api_key.expiring": "API key expires soon",
  "quota.near": "Quota nearly used up",
  "channel.paused": "Channel paused",
  test: "Test"
}

const reminderLabels: Partial<Record<DeliveredEvent, string>> = {
  "execution.failed": "Still failing",
  "chain_run.failed": "Still failing",
  "incident.opened": "Still down",
  "worker.offline": "Still offline"
}

export const eventTitleOf = ({
  event,
  name,
  reminder
}: Pick<MessageEvent, "event" | "name" | "reminder">) =>
  `${(reminder === true ? reminderLabels[event] : undefined) ?? eventLabels[event]}: ${toOneLine(name)}`

const eventLine = (event: MessageEvent) =>
  event.reason === null
    ? eventTitleOf(event)
    : `${eventTitleOf(event)} (${toOneLine(event.reason)})`

const dependentsOf = ({ facts }: MessageEvent) => {
  const names: ReadonlyArray<string> = Object.values(dependentsFactNames)
  const fact = facts.find(({ name }) => names.includes(name))
  return fact === undefined ? "" : `. ${fact.name}: ${fact.value}`
}

const groupTitle = ({ begun, ended, other }: GroupCounts) =>
  [
    [begun, "failing"],
    [ended, "recovered"],
    [other, "other"]
  ]
    .filter(([count]) => Number(count) > 0)
    .map(([count, what]) => `${count?.toLocaleString("en")} ${what}`)
    .join(", ")
