import type { CronTask, TaskStatus } from "@scheduling/sdk"
import { recordQueries } from "../../data/recordQueries.ts"
import type { RepeatingTaskKind } from "../RepeatingTaskActions.tsx"

interface Search {
  readonly name?: string
  readonly status?: TaskStatus
}

export const cronQueries = recordQueries<CronTask, Search>("cron", ({ cron }) => cron)

export const cronKind: RepeatingTaskKind = {
  kind: "cron",
  resourceOf: ({ cron }) => cron,
  changed: cronQueries.changed
}
