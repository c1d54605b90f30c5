import { Schema } from "effect"

const count = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 })).annotate({ description })

const orUnlimited = (description: string) =>
  Schema.NullOr(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))
  ).annotate({
    description: `${description} Null if there is no limit.`
  })

/** What a plan allows a workspace. Each limit has the name that `quota_exceeded` says. */
export const Limits = Schema.Struct({
  cron_tasks: count("Cron tasks."),
  chains: count("Chains."),
  second_precision_tasks: count("Cron tasks and chains that may have seconds in their schedules."),
  calendars: count("Calendars whose days schedules exclude."),
  pending_delayed_tasks: count("Delayed tasks that have not run yet."),
  unfinished_runs: count("Runs that wait or run."),
  executions_a_month: orUnlimited(
    "Executions that make a call and end in a calendar month, in UTC."
  ),
  shortest_interval_seconds: count(
    "How close together two fires of a schedule may be. 5 or less allows every schedule, 60 every " +
      "one without seconds."
  ),
  history_days: orUnlimited(
    "For how many days executions are shown, if that is less than the service keeps them."
  ),
  active_api_keys: count("API keys that work."),
  api_keys: count("API keys, including revoked and expired ones that are not deleted."),
  members: count("Members."),
  open_invitations: count("Invitations that nobody has accepted yet."),
  monitors: count("Monitors of all kinds."),
  notification_channels: count("Notification channels."),
  confirmation_mails_a_day: count("Mails that ask a stranger to confirm an email channel."),
  waiting_callbacks: count(
    "Callbacks of tasks that wait to be delivered. Further ones are dropped."
  ),
  workers: count("Workers."),
  queues: count("Queues."),
  owned_workspaces: count("Workspaces that one account owns. The default plan's limit applies.")
}).annotate({ identifier: "Limits" })
export type Limits = typeof Limits.Type

export type LimitName = keyof Limits

/** The sentence of a create in the API reference about how many a workspace may have. */
export const planAllows = (what: string, limit: LimitName, byDefault: number) =>
  `A workspace may have as many ${what} as its plan allows (\`${limit}\`, ${byDefault.toLocaleString("en")} by default).`
