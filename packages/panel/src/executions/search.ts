import type { ExecutionKind, ExecutionStatus, RerunFilter } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../ui/lists/search.ts"

export const kinds = ["cron", "delayed", "chain"] as const

export const statuses = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped"
] as const

/** What the list of executions is narrowed to. */
export interface ExecutionSearch {
  readonly kind?: ExecutionKind
  readonly status?: ExecutionStatus
  readonly task_id?: string
  readonly from?: string
  readonly to?: string
}

const moment = (value: unknown) => {
  const text = textIn(value)
  return text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined
}

export const executionSearch = (search: Record<string, unknown>): ExecutionSearch =>
  given({
    kind: oneOf(kinds, search["kind"]),
    status: oneOf(statuses, search["status"]),
    task_id: textIn(search["task_id"]),
    from: moment(search["from"]),
    to: moment(search["to"])
  })

const runAgain = ["failed", "cancelled", "skipped"] as const

/** What runs again of the list, if its status is one that does. */
export const rerunFilter = ({ status, ...search }: ExecutionSearch): RerunFilter | undefined => {
  const ended = oneOf(runAgain, status)
  return ended === undefined ? undefined : { ...search, status: ended }
}
