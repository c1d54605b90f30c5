/** What a 404 may say is missing. */
export const resources = [
  "route",
  "workspace",
  "session",
  "member",
  "invitation",
  "api_key",
  "task",
  "chain",
  "chain_run",
  "execution",
  "monitor",
  "incident",
  "notification_channel",
  "notification_delivery",
  "worker",
  "queue"
] as const

export type Resource = (typeof resources)[number]
