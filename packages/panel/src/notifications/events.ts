import type { DeliveredEvent, NotificationDelivery, NotificationEvent } from "@scheduling/sdk"

/** The events of rules in words, by group. */
export const eventGroups: ReadonlyArray<
  readonly [group: string, events: ReadonlyArray<readonly [NotificationEvent, string]>]
> = [
  [
    "Tasks",
    [
      ["task.failed", "a task fails"],
      ["task.recovered", "a task recovers"],
      ["task.disabled", "the service pauses a task"],
      ["chain.failed", "a chain fails"],
      ["chain.recovered", "a chain recovers"]
    ]
  ],
  [
    "Monitors",
    [
      ["monitor.down", "a monitor goes down"],
      ["monitor.up", "a monitor comes back"],
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
      ["channel.disabled", "the service disables a channel"]
    ]
  ]
]

const words = new Map<string, string>(eventGroups.flatMap(([, events]) => events))

export const eventInWords = (event: NotificationEvent): string => words.get(event) ?? event

/** The predicates of the sentences about events. */
const predicates: Readonly<Record<string, string>> = {
  "task.failed": "failed",
  "task.recovered": "recovered",
  "task.disabled": "was paused by the service",
  "task.succeeded": "succeeded",
  "chain.failed": "failed",
  "chain.recovered": "recovered",
  "chain.succeeded": "succeeded",
  "monitor.down": "went down",
  "monitor.up": "came back",
  "certificate.expiring": "has a certificate that expires soon",
  "certificate.changed": "has a new certificate",
  "worker.offline": "went offline",
  "worker.online": "came online",
  "api_key.expiring": "expires soon",
  "quota.near": "is nearly used up",
  "channel.disabled": "was disabled by the service",
  test: "was tested"
}

/** `Nightly report failed`. */
export const happened = ({
  event,
  name
}: {
  readonly event: DeliveredEvent
  readonly name: string
}) => `${name} ${predicates[event] ?? event}`

/** `Nightly report failed, and 2 more`. */
export const titleOf = ({
  events,
  events_count
}: Pick<NotificationDelivery, "events" | "events_count">): string => {
  const [first] = events
  if (first === undefined) return "Request to confirm the address"
  return happened(first) + (events_count > 1 ? `, and ${events_count - 1} more` : "")
}

/** `a, b and c`. */
export const listed = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`

/** The events of a new rule: failures and recoveries. */
export const usualEvents: ReadonlyArray<NotificationEvent> = [
  "task.failed",
  "task.recovered",
  "chain.failed",
  "chain.recovered",
  "monitor.down",
  "monitor.up",
  "certificate.expiring"
]
