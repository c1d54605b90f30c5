import type { RerunFilter } from "@scheduling/sdk"
import { momentIn, oneOf, searchOf, textIn, wholeNumberIn } from "../ui/lists/search.ts"

export const statuses = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped"
] as const

export const triggers = ["schedule", "manual", "chain", "retry", "rerun"] as const

export const executionSearch = searchOf({
  kind: oneOf(["cron", "delayed", "chain"]),
  status: oneOf(statuses),
  trigger: oneOf(triggers),
  status_code: wholeNumberIn({ min: 100, max: 599 }),
  min_duration_ms: wholeNumberIn({ min: 1, max: 2 ** 31 - 1 }),
  task_id: textIn,
  from: momentIn,
  to: momentIn
})

export type ExecutionSearch = ReturnType<typeof executionSearch>

const rerunnable = oneOf(["failed", "cancelled", "skipped"])

/** The filter to rerun the whole list. Undefined if executions with its status cannot be rerun. */
export const rerunFilter = ({
  kind,
  status,
  status_code,
  task_id,
  trigger,
  ...search
}: ExecutionSearch): RerunFilter | undefined => {
  const finished = rerunnable(status)
  if (finished === undefined) return undefined
  return {
    ...search,
    status: [finished],
    ...(kind !== undefined && { kind: [kind] }),
    ...(status_code !== undefined && { status_code: [status_code] }),
    ...(task_id !== undefined && { task_id: [task_id] }),
    ...(trigger !== undefined && { trigger: [trigger] })
  }
}
