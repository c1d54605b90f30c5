/** The kinds of records that an error can name. */
export const resources = [
  "route",
  "workspace",
  "session",
  "member",
  "invitation",
  "service_account",
  "api_key",
  "task",
  "chain",
  "chain_run",
  "trigger",
  "version",
  "execution",
  "monitor",
  "incident",
  "maintenance_window",
  "escalation_policy",
  "notification_channel",
  "notification_delivery",
  "worker",
  "queue",
  "secret",
  "status_page",
  "user",
  "notification_settings",
  "subscription"
] as const

export type Resource = (typeof resources)[number]

/** Returns the name of a kind of record for use in a sentence. */
export const nounOf = (resource: Resource): string =>
  resource === "api_key" ? "API key" : resource.replaceAll("_", " ")
