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
      ["task.disabled", "a task is disabled"],
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

const words = new Map<string, string>([
  ...eventGroups.flatMap(([, events]) => events),
  ["task.succeeded", "a run succeeded"],
  ["chain.succeeded", "a run succeeded"],
  ["test", "this is a test"]
])

export const eventInWords = (event: DeliveredEvent): string => words.get(event) ?? event

/** `Nightly report: a task fails, and 2 more`. */
export const titleOf = ({
  events,
  events_count
}: Pick<NotificationDelivery, "events" | "events_count">): string => {
  const [first] = events
  if (first === undefined) return "Asks to confirm the address"
  const more = events_count > 1 ? `, and ${events_count - 1} more` : ""
  return `${first.name}: ${eventInWords(first.event)}${more}`
}

/** `a, b and c`. */
export const listed = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`
