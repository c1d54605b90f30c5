import { errorLine, executionError } from "@scheduling/domain/executions/ExecutionError"
import type { SqlClient } from "effect/sql"
import { maxUnfinishedRunsPerTask } from "../../core/index.ts"
import { isAtRunLimit } from "../transitions/enqueue.ts"
import { isInPhase } from "../RunState.ts"
import { isInStoppedWorkspace } from "../stoppedWorkspace.ts"
import { catchesUp, maxWaitingRuns } from "../transitions/mayStart.ts"

/**
 * SQL for whether the task already has as many waiting runs of earlier slots in a queue as its
 * overlap rule allows. The start guard would check this too late, because it runs only when the
 * runs start, one after the other.
 */
const isAlreadyWaiting = `EXISTS (
  SELECT
  FROM runs
  WHERE runs.task_id = fires.task_id
    AND runs.slot_at < fires.slot_at
    AND ${isInPhase("parked")}
    AND runs.due_at <= now()
  OFFSET (
    SELECT
      CASE
        WHEN ${catchesUp("fires.slot_at")} THEN ${maxUnfinishedRunsPerTask}
        WHEN overlap = 'skip' THEN 0
        WHEN overlap = 'queue' THEN ${maxWaitingRuns - 1}
        ELSE ${maxUnfinishedRunsPerTask}
      END
    FROM tasks
    WHERE tasks.id = fires.task_id
  )
  LIMIT 1
)`

/**
 * SQL for whether a slot gets no run because its workspace is stopped. This is the case if its task
 * skips missed slots, or if a run of an earlier slot already waits for the workspace to resume.
 * That run stands for all slots that pass before then.
 */
const isDropped = `(
  ${isInStoppedWorkspace("fires")}
  AND (
    EXISTS (
      SELECT
      FROM tasks
      WHERE tasks.id = fires.task_id
        AND tasks.missed = 'skip'
    )
    OR EXISTS (
      SELECT
      FROM runs
      WHERE runs.task_id = fires.task_id
        AND runs.slot_at < fires.slot_at
        AND runs.started_at IS NULL
    )
  )
)`

/** SQL for the reason why a row of `fires` does not become a run. Null if it does. */
export const rejectionReason = (sql: SqlClient.SqlClient) => sql`
  CASE
    WHEN ${isAtRunLimit(sql, sql.literal("fires.task_id"))} THEN ${fullQueue}
    WHEN (fires.queue_id IS NOT NULL OR fires.in_flow) AND ${sql.literal(isAlreadyWaiting)} THEN ${waitingInQueue}
    WHEN ${sql.literal(isDropped)} THEN ${workspaceStopped}
  END`

const fullQueue = errorLine(
  executionError(
    "too_many_runs",
    `the task has reached its limit of ${maxUnfinishedRunsPerTask} unfinished runs`
  )
)

const waitingInQueue = errorLine(
  executionError("overlap", "the previous run was still waiting in its queue")
)

const workspaceStopped = errorLine(executionError("workspace_stopped", "the workspace was stopped"))
