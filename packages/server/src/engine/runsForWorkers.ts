import { downtimeSql } from "./Absences.ts"
import { isInPhase } from "./RunState.ts"
import { isInStoppedWorkspace } from "./stoppedWorkspace.ts"

/** SQL condition for runs that wait for a worker. It matches the predicates of their indexes. */
export const waitsForWorker = `${isInPhase("ready")} AND run_on IS NOT NULL`

/**
 * SQL condition for runs that have waited for a worker for too long. Time during which the service
 * was down or the workspace was stopped does not count. The first comparison lets PostgreSQL use
 * the index.
 */
export const isClaimOverdue = `${waitsForWorker}
        AND seconds_after(due_at, worker_wait_seconds) < now()
        AND seconds_after(due_at, worker_wait_seconds) < now() - ${downtimeSql("runs.due_at")}
        AND NOT ${isInStoppedWorkspace()}`

/** SQL condition for runs that were cancelled before a worker claimed them. */
export const isCancelledUnclaimed = `${waitsForWorker} AND cancel_requested`

export const upcomingWorkerRunColumns = `
      EXISTS (SELECT FROM runs WHERE ${waitsForWorker} AND due_at <= now()) AS worker_due,
      (
        SELECT date_part('epoch', min(due_at)) * 1000
        FROM runs
        WHERE ${waitsForWorker}
          AND due_at > now()
      ) AS next_worker_due_ms`

export const noUpcomingWorkerRunColumns = "false AS worker_due, NULL AS next_worker_due_ms"
