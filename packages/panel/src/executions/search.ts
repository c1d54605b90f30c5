import type { RerunFilter } from "@scheduling/sdk"
import { momentIn, oneOf, searchOf, textIn } from "../ui/lists/search.ts"

export const statuses = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped"
] as const

export const executionSearch = searchOf({
  kind: oneOf(["cron", "delayed", "chain"]),
  status: oneOf(statuses),
  task_id: textIn,
  from: momentIn,
  to: momentIn
})

export type ExecutionSearch = ReturnType<typeof executionSearch>

const rerunnable = oneOf(["failed", "cancelled", "skipped"])

/** The filter for a rerun of the whole list. Undefined if executions of its status cannot be rerun. */
export const rerunFilter = ({ status, ...search }: ExecutionSearch): RerunFilter | undefined => {
  const finished = rerunnable(status)
  return finished === undefined ? undefined : { ...search, status: finished }
}
