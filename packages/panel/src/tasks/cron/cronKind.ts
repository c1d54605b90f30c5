import type { RepeatingKind } from "../repeating.tsx"
import { cronQueries } from "./queries.ts"

export const cronKind: RepeatingKind = {
  noun: "cron",
  title: "Cron tasks",
  one: "Cron task",
  clientOf: ({ cron }) => cron,
  changed: cronQueries.changed,
  warning:
    "It stops firing, and runs that are queued or running are cancelled. Its executions stay readable.",
  bulkWarning:
    "They stop firing, and runs that are queued or running are cancelled. Their executions stay readable.",
  showsRun: false
}
