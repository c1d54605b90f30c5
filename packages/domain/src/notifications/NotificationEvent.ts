import { oneOf } from "../shared/oneOf.ts"

export const notificationEvents = [
  "task.failed",
  "task.recovered",
  "task.disabled",
  "chain.failed",
  "chain.recovered",
  "monitor.down",
  "monitor.up",
  "certificate.expiring",
  "certificate.changed",
  "worker.offline",
  "worker.online",
  "api_key.expiring",
  "quota.near",
  "channel.disabled",
  "test"
] as const

export const NotificationEvent = oneOf(notificationEvents, {
  identifier: "NotificationEvent",
  description:
    "What happened. `failed`, `down` and `offline` begin a problem, and `recovered`, `up` and " +
    "`online` end it. The end is sent only to channels that got the beginning. `api_key.expiring` " +
    "is sent 7 days and 1 day before the key expires, `quota.near` at 80 % and 100 % of a limit, " +
    "`channel.disabled` to every other channel, and `test` to the channel that is tested.",
  examples: ["task.failed"]
})
export type NotificationEvent = typeof NotificationEvent.Type

/** The events of deliveries. Callbacks of tasks are about successes, too. */
export const DeliveredEvent = oneOf([...notificationEvents, "task.succeeded", "chain.succeeded"], {
  identifier: "DeliveredEvent",
  description:
    "What happened. `task.succeeded` and `chain.succeeded` are sent only to the `on_success` of " +
    "the task.",
  examples: ["task.failed"]
})
export type DeliveredEvent = typeof DeliveredEvent.Type

/** The event that ends the problem that another event begins. */
export const recoveries = {
  "task.failed": "task.recovered",
  "chain.failed": "chain.recovered",
  "monitor.down": "monitor.up",
  "worker.offline": "worker.online"
} as const satisfies Partial<Record<NotificationEvent, NotificationEvent>>

export type ProblemEvent = keyof typeof recoveries

export const isProblem = (event: DeliveredEvent): event is ProblemEvent => event in recoveries

const endings: ReadonlySet<DeliveredEvent> = new Set(Object.values(recoveries))

export const isRecovery = (event: DeliveredEvent): boolean => endings.has(event)
