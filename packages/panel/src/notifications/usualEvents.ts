import type { NotificationEvent } from "@scheduling/sdk"

/** What most want to hear of: failures and recoveries. */
export const usualEvents: ReadonlyArray<NotificationEvent> = [
  "task.failed",
  "task.recovered",
  "chain.failed",
  "chain.recovered",
  "monitor.down",
  "monitor.up",
  "certificate.expiring"
]
