import type { ScheduledRow } from "./Schedules.ts"

const columns: Readonly<Record<keyof ScheduledRow, string>> = {
  id: "id",
  workspace_id: "workspace_id",
  key: "key",
  status: "status",
  schedule: "schedule",
  timezone: "coalesce(timezone, 'UTC')",
  dst_overlap: "coalesce(dst_overlap, 'first')",
  firing_options: "firing_options",
  paused_reason: "paused_reason",
  queue_id: "queue_id",
  next_fire_at: "next_fire_at",
  created_at: "created_at",
  updated_at: "updated_at"
}

/** SQL for all that a `ScheduledRow` has, of cron tasks and of chains, which may have no schedule. */
export const scheduledColumns = Object.entries(columns)
  .map(([name, value]) => (name === value ? name : `${value} AS ${name}`))
  .join(", ")
