import { isStopped } from "./stop.ts"

/**
 * SQL about a row of `runs`: it was cancelled, or stopped together with its task or workspace, so
 * it ends instead of starting.
 */
export const mustEnd = `(runs.cancel_requested OR ${isStopped})`

/** How many runs of a task may wait. A queue behind a run that never ends must not grow forever. */
export const maxWaiting = 100

/**
 * SQL about a row of `runs` that need not end: it starts whatever its task allows and whatever else
 * is running. Only the slots of a schedule have rules for overlapping. Runs started by hand,
 * further attempts, further steps of a chain and runs of delayed tasks are not slots.
 */
export const startsUnjudged =
  "(runs.kind = 'delayed' OR runs.trigger <> 'schedule' OR runs.started_at IS NOT NULL)"
