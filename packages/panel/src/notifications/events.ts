import type { DeliveredEvent, NotificationDelivery, NotificationEvent } from "@scheduling/sdk"

/** The display names of events that rules can match, by group. */
export const eventGroups: ReadonlyArray<
  readonly [group: string, events: ReadonlyArray<readonly [NotificationEvent, string]>]
> = [
  [
    "Tasks",
    [
      ["execution.failed", "a task fails"],
      ["chain_run.failed", "a chain fails"],
      ["task.recovered", "a task or a chain recovers"],
      ["task.paused", "the service pauses a task or a chain"],
      ["approval.requested", "a step of a chain waits for approval"]
    ]
  ],
  [
    "Monitors",
    [
      ["incident.opened", "a monitor goes down"],
      ["incident.closed", "a monitor recovers"],
      ["certificate.expiring", "a certificate expires soon"],
      ["certificate.changed", "a certificate changes"]
    ]
  ],
  [
    "The service",
    [
      ["worker.offline", "a worker goes offline"],
      ["worker.online", "a worker comes online"],
      ["api_key.expiring", "an API key expires soon"],
      ["quota.near", "a quota is nearly used up"],
      ["channel.paused", "the service pauses a channel"]
    ]
  ]
]

const words = new Map<string, string>(eventGroups.flatMap(([, events]) => events))

export const eventInWords = (event: NotificationEvent): string => words.get(event) ?? event

/** The predicates of sentences about events. */
const predicates: Readonly<Record<string, string>> = {
  "execution.failed": "failed",
  "execution.succeeded": "succeeded",
  "chain_run.failed": "failed",
  "chain_run.succeeded": "succeeded",
  "task.recovered": "recovered",
  "task.paused": "was paused by the service",
  "approval.requested": "waits for approval",
  "incident.opened": "went down",
  "incident.closed": "recovered",
  "certificate.expiring": "has a certificate that expires soon",
  "certificate.changed": "has a new certificate",
  "worker.offline": "went offline",
  "worker.online": "came online",
  "api_key.expiring": "expires soon",
  "quota.near": "is nearly used up",
  "channel.paused": "was paused by the service",
  test: "was tested"
}

/** Describes an event as text: `Nightly report failed`. */
export const describeEvent = ({
  name,
  type
}: {
  readonly name: string
  readonly type: DeliveredEvent
}) => `${name} ${predicates[type] ?? type}`

/** Returns a delivery's title: `Nightly report failed, and 2 more`. */
export const deliveryTitle = ({
  events,
  events_count
}: Pick<NotificationDelivery, "events" | "events_count">): string => {
  const [first] = events
  if (first === undefined) return "Request to confirm the address"
  return describeEvent(first) + (events_count > 1 ? `, and ${events_count - 1} more` : "")
}

/** Joins items as text: `a, b and c`. */
export const joinNames = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`

/** The events preselected in a new rule: failures and recoveries. */
export const defaultRuleEvents: ReadonlyArray<NotificationEvent> = [
  "execution.failed",
  "chain_run.failed",
  "task.recovered",
  "incident.opened",
  "incident.closed",
  "certificate.expiring"
]
