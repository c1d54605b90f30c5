import type { LimitName } from "@scheduling/domain/billing/Limits"
import type { SqlClient, Statement } from "effect/sql"

interface Counted {
  readonly table: string
  /** The condition that selects the rows counted for a workspace. */
  readonly condition: (sql: SqlClient.SqlClient, now: Date) => Statement.Fragment
}

const literalCondition =
  (condition: string): Counted["condition"] =>
  (sql) =>
    sql.literal(condition)

/** The limits that are enforced by counting rows, each with the table and the condition. */
export const countedResources = {
  cron_tasks: { table: "tasks", condition: literalCondition("kind = 'cron'") },
  chains: { table: "tasks", condition: literalCondition("kind = 'chain'") },
  second_precision_tasks: {
    table: "tasks",
    // The kind keeps the query from reading the delayed tasks, which have no limit in number.
    condition: literalCondition(`kind IN ('cron', 'chain') AND (
      firing_options ->> 'precision' = 'second'
      OR schedule ~ '^@every [1-5]?[0-9]s( |$)'
    )`)
  },
  calendars: {
    table: "calendars",
    condition: literalCondition(`EXISTS (
      SELECT
      FROM tasks
      WHERE tasks.workspace_id = calendars.workspace_id
        AND kind IN ('cron', 'chain')
        AND firing_options #>> '{excluded_calendar,url}' = calendars.url
    )`)
  },
  pending_delayed_tasks: { table: "tasks", condition: literalCondition("status = 'pending'") },
  unfinished_runs: { table: "runs", condition: literalCondition("true") },
  active_api_keys: {
    table: "api_keys",
    condition: (sql, now) => sql`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`
  },
  api_keys: { table: "api_keys", condition: literalCondition("true") },
  members: { table: "memberships", condition: literalCondition("true") },
  open_invitations: {
    table: "invitations",
    condition: (sql, now) => sql`expires_at > ${now}`
  },
  monitors: { table: "monitors", condition: literalCondition("true") },
  workers: { table: "workers", condition: literalCondition("true") },
  secrets: { table: "secrets", condition: literalCondition("true") },
  queues: { table: "queues", condition: literalCondition("true") },
  notification_channels: { table: "notification_channels", condition: literalCondition("true") }
} satisfies Partial<Record<LimitName, Counted>>

/** The name of a limit that is enforced by counting rows. */
export type CountedLimit = keyof typeof countedResources

export const countedLimits = Object.keys(countedResources) as ReadonlyArray<CountedLimit>
