import type { DelayedTask, DelayedTaskStatus } from "@scheduling/sdk"
import { recordQueries } from "../../data/recordQueries.ts"

interface Search {
  readonly name?: string
  readonly status?: DelayedTaskStatus
}

export const delayedQueries = recordQueries<DelayedTask, Search>(
  "delayed",
  ({ delayed }) => delayed
)
