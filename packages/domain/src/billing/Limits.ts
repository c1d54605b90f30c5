import { Schema } from "effect"

const count = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 })).annotate({ description })

const orUnlimited = (description: string) =>
  Schema.NullOr(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))
  ).annotate({
    description: `${description} Null if there is no limit.`
  })

/** The limits of a plan. `quota_exceeded` errors use the same names. */
export const Limits = Schema.Struct({
  cron_tasks: count("Cron tasks."),
  chains: count("Chains."),
  second_precision_tasks: count("Cron tasks and chains with seconds in their schedules."),
  calendars: count("Calendars of excluded days."),
  pending_delayed_tasks: count("Delayed tasks that have not run yet."),
  unfinished_runs: count("Runs that are waiting or in progress."),
  executions_a_month: orUnlimited(
    "Executions that make a call and finish within a calendar month in UTC."
  ),
  shortest_interval_seconds: count(
    "The minimum interval between firings of a schedule. 5 or less allows every schedule, 60 every " +
      "schedule without seconds."
  ),
  history_days: orUnlimited(
    "Number of days for which executions are shown, if less than the service's retention."
  ),
  active_api_keys: count("Active API keys."),
  api_keys: count("API keys, including revoked and expired keys that are not deleted."),
  members: count("Members."),
  open_invitations: count("Open invitations."),
  monitors: count("Monitors of all kinds."),
  notification_channels: count("Notification channels."),
  confirmation_mails_a_day: count("Confirmation mails for email channels, per day."),
  waiting_callbacks: count(
    "Callbacks that are waiting for delivery. Further callbacks are dropped."
  ),
  workers: count("Workers."),
  queues: count("Queues."),
  secrets: count("Secrets."),
  owned_workspaces: count(
    "Workspaces that one account owns. The limit of the default plan applies."
  )
}).annotate({ identifier: "Limits" })
export type Limits = typeof Limits.Type

export type LimitName = keyof Limits

/** Returns the sentence that describes a limit in a create endpoint's API reference. */
export const planLimitSentence = (what: string, limit: LimitName, byDefault: number) =>
  `The plan limits the number of ${what} (\`${limit}\`, ${byDefault.toLocaleString("en")} by default).`
