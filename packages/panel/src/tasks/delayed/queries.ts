import type { DelayedTask, DelayedTaskStatus } from "@scheduling/sdk"
import { taskQueries } from "../taskQueries.ts"
import type { TaskWords } from "../TaskPages.tsx"

export const delayedQueries = taskQueries<DelayedTask, DelayedTaskStatus>(
  "delayed",
  ({ delayed }) => delayed
)

export const delayedWords: TaskWords = {
  noun: "delayed",
  title: "Delayed tasks",
  one: "Delayed task"
}
