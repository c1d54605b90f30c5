import { oneOf } from "../shared/oneOf.ts"

export const notificationEvents = [
  "execution.failed",
  "chain_run.failed",
  "task.recovered",
  "task.paused",
  "approval.requested",
  "incident.opened",
  "incident.closed",
  "certificate.expiring",
  "certificate.changed",
  "worker.offline",
  "worker.online",
  "api_key.expiring",
  "quota.near",
  "channel.paused",
  "test"
] as const

/** Event types that people are notified of. `events/Event.ts` has their schemas. */
export const NotificationEvent = oneOf(notificationEvents, {
  identifier: "NotificationEvent",
  description:
    "What happened. `execution.failed`, `chain_run.failed`, `incident.opened` and `worker.offline` " +
    "report the start of a problem. `task.recovered`, `incident.closed` and `worker.online` report its end, and are sent only to channels that were notified of the start. `task.paused`: the service paused a task. " +
    "`approval.requested`: a step of a chain waits for approval. " +
    "`api_key.expiring` is sent 7 days and 1 day before the key expires, `quota.near` at 80 % and " +
    "100 % of a limit, `channel.paused` to all other channels, and `test` to the channel under " +
    "test.",
  examples: ["execution.failed"]
})
export type NotificationEvent = typeof NotificationEvent.Type

/** Event types of deliveries, including the successes that are sent only to task callbacks. */
export const DeliveredEvent = oneOf(
  [...notificationEvents, "execution.succeeded", "chain_run.succeeded"],
  {
    identifier: "DeliveredEvent",
    description:
      "What happened. `execution.succeeded` and `chain_run.succeeded` are sent only to the " +
      "`on_success` of the task.",
    examples: ["execution.failed"]
  }
)
export type DeliveredEvent = typeof DeliveredEvent.Type

/** Maps each event that starts a problem to the event that ends it. */
export const recoveryOfProblem = {
  "execution.failed": "task.recovered",
  "chain_run.failed": "task.recovered",
  "incident.opened": "incident.closed",
  "worker.offline": "worker.online"
} as const satisfies Partial<Record<NotificationEvent, NotificationEvent>>

export type ProblemEvent = keyof typeof recoveryOfProblem

export const isProblem = (event: DeliveredEvent): event is ProblemEvent =>
  event in recoveryOfProblem

const recoveryEvents: ReadonlySet<DeliveredEvent> = new Set(Object.values(recoveryOfProblem))

export const isRecovery = (event: DeliveredEvent): boolean => recoveryEvents.has(event)
