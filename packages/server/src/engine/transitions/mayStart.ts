import { isStopped } from "./stop.ts"

/**
 * SQL for whether a row of `runs` was cancelled, or stopped together with its task or workspace, so
 * that it is finished instead of started.
 */
export const mustEnd = `(runs.cancel_requested OR ${isStopped})`

/**
 * Maximum number of waiting runs of a task. A queue behind a run that never finishes must not grow
 * forever.
 */
export const maxWaiting = 100

/**
 * SQL for whether a row of `runs` starts without a check for overlap. Only the slots of a schedule
 * have rules for overlapping. Manual runs, retries, further steps of a chain and runs of delayed
 * tasks are not slots.
 */
export const startsWithoutCheck =
  "(runs.kind = 'delayed' OR runs.trigger <> 'schedule' OR runs.started_at IS NOT NULL)"
