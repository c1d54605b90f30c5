import type { DeliveredEvent, NotificationDelivery, NotificationEvent } from "@scheduling/sdk"

/** Events in words, in the groups in which rules name them. */
export const eventGroups: ReadonlyArray<
  readonly [group: string, events: ReadonlyArray<readonly [NotificationEvent, string]>]
> = [
  [
    "Tasks",
    [
      ["task.failed", "a task fails"],
      ["task.recovered", "a task works again"],
      ["task.disabled", "a task is paused by the service"],
      ["chain.failed", "a chain fails"],
      ["chain.recovered", "a chain works again"]
    ]
  ],
  [
    "Monitors",
    [
      ["monitor.down", "a monitor goes down"],
      ["monitor.up", "a monitor comes back"],
      ["certificate.expiring", "a certificate expires soon"],
      ["certificate.changed", "a certificate changed"]
    ]
  ],
  [
    "The service",
    [
      ["worker.offline", "a worker is gone"],
      ["worker.online", "a worker is back"],
      ["api_key.expiring", "an API key expires soon"],
      ["quota.near", "a limit is near"],
      ["channel.disabled", "a channel is disabled"]
    ]
  ]
]

const words = new Map<string, string>(eventGroups.flatMap(([, events]) => events))

/** What a rule waits for. */
export const eventInWords = (event: NotificationEvent): string => words.get(event) ?? event

/** What is said of the task, monitor or other thing that it happened to. */
const told: Readonly<Record<string, string>> = {
  "task.failed": "failed",
  "task.recovered": "works again",
  "task.disabled": "was paused by the service",
  "task.succeeded": "succeeded",
  "chain.failed": "failed",
  "chain.recovered": "works again",
  "chain.succeeded": "succeeded",
  "monitor.down": "is down",
  "monitor.up": "is up again",
  "certificate.expiring": "has a certificate that expires soon",
  "certificate.changed": "has another certificate",
  "worker.offline": "is gone",
  "worker.online": "is back",
  "api_key.expiring": "expires soon",
  "quota.near": "is nearly used up",
  "channel.disabled": "is disabled",
  test: "is tested"
}

/** `Nightly report failed`. */
export const happened = ({
  event,
  name
}: {
  readonly event: DeliveredEvent
  readonly name: string
}) => `${name} ${told[event] ?? event}`

/** `Nightly report failed, and 2 more`. */
export const titleOf = ({
  events,
  events_count
}: Pick<NotificationDelivery, "events" | "events_count">): string => {
  const [first] = events
  if (first === undefined) return "Asks to confirm the address"
  return happened(first) + (events_count > 1 ? `, and ${events_count - 1} more` : "")
}

/** `a, b and c`. */
export const listed = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`
