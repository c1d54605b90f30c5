import type { ExecutionsListQuery, ExecutionTrigger, RerunFilter } from "@scheduling/sdk"
import {
  listOf,
  dateTimeTextOf,
  oneOf,
  searchOf,
  searchTextOf,
  wholeNumberIn
} from "../ui/lists/search.ts"

export const executionStatuses = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped"
] as const

/** The names of the triggers of executions, in the order of the filter. */
export const triggerNames: Readonly<Record<ExecutionTrigger, string>> = {
  schedule: "Schedule",
  manual: "Manual run",
  chain: "Previous step",
  retry: "Retry after a lost node",
  rerun: "Rerun",
  backfill: "Backfill"
}

const executionTriggers = Object.keys(triggerNames) as ReadonlyArray<ExecutionTrigger>

export const executionSearch = searchOf({
  kind: oneOf(["cron", "delayed", "chain"]),
  status: listOf(executionStatuses),
  tag: searchTextOf,
  trigger: oneOf(executionTriggers),
  status_code: wholeNumberIn({ min: 100, max: 599 }),
  min_duration_ms: wholeNumberIn({ min: 1, max: 2 ** 31 - 1 }),
  task_id: searchTextOf,
  from: dateTimeTextOf,
  to: dateTimeTextOf
})

export type ExecutionSearch = ReturnType<typeof executionSearch>

const isStatus = oneOf(executionStatuses)

/** The selected statuses, which the URL holds in one string. */
export const statusesOf = ({ status }: { readonly status?: string | undefined }) =>
  (status?.split(",") ?? []).flatMap((one) => isStatus(one) ?? [])

export const listQueryOf = ({ status, ...search }: ExecutionSearch): ExecutionsListQuery => ({
  ...search,
  ...(status !== undefined && { status: statusesOf({ status }) })
})

const rerunnable = oneOf(["failed", "cancelled", "skipped"])

/**
 * Returns the filter that reruns all listed executions. Undefined if executions with their status
 * cannot be rerun.
 */
export const rerunFilter = ({
  kind,
  status,
  status_code,
  tag,
  task_id,
  trigger,
  ...search
}: ExecutionSearch): RerunFilter | undefined => {
  const chosen = statusesOf({ status })
  const finished = chosen.flatMap((one) => rerunnable(one) ?? [])
  if (finished.length === 0 || finished.length < chosen.length) return undefined
  return {
    ...search,
    status: finished,
    ...(tag !== undefined && { tag: [tag] }),
    ...(kind !== undefined && { kind: [kind] }),
    ...(status_code !== undefined && { status_code: [status_code] }),
    ...(task_id !== undefined && { task_id: [task_id] }),
    ...(trigger !== undefined && { trigger: [trigger] })
  }
}
