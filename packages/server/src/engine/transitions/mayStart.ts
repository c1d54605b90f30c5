import { missedAfterMs } from "../firing/decideFire.ts"
import { isStopped } from "./stop.ts"

/**
 * SQL for whether a row of `runs` was cancelled, or stopped together with its task or workspace, so
 * that it is finished instead of started.
 */
export const mustEnd = `(runs.cancel_requested OR ${isStopped})`

/**
 * The maximum number of waiting runs of a task, because a queue behind a run that never finishes
 * must not grow forever.
 */
export const maxWaitingRuns = 100

/**
 * SQL for whether a row of `runs` starts without a check for overlap. Only the slots of a schedule
 * and of a backfill have rules for overlapping. Manual runs, retries, further steps of a chain and
 * runs of delayed tasks are not slots.
 */
export const startsWithoutOverlapCheck =
  "(runs.kind = 'delayed' OR runs.trigger NOT IN ('schedule', 'backfill') OR runs.started_at IS NOT NULL)"

/**
 * SQL for whether a slot was missed and its task catches up on each missed slot. The runs of such
 * slots wait for each other, regardless of the overlap of the task. Otherwise all but the first
 * would be skipped.
 */
export const catchesUp = (scheduledFor: string) =>
  `(tasks.missed = 'all' AND ${scheduledFor} < now() - interval '${missedAfterMs / 1_000} seconds')`
