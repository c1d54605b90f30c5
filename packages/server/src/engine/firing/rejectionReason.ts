import { errorLine, executionError } from "@scheduling/domain/executions/ExecutionError"
import type { SqlClient } from "effect/sql"
import { maxTaskRuns } from "../../core/index.ts"
import { isFull } from "../transitions/enqueue.ts"
import { isInPhase } from "../RunState.ts"
import { isInStoppedWorkspace } from "../stoppedWorkspace.ts"
import { maxWaiting } from "../transitions/mayStart.ts"

/**
 * SQL for whether an earlier slot of the task is already waiting in a queue, which is as many as
 * its overlap allows. The start guard would check them too late: once they start, one after the
 * other.
 */
const waitsAlready = `EXISTS (
  SELECT
  FROM runs
  WHERE runs.task_id = fires.task_id
    AND runs.slot_at < fires.slot_at
    AND ${isInPhase("parked")}
    AND runs.due_at <= now()
  OFFSET (
    SELECT CASE overlap WHEN 'skip' THEN 0 WHEN 'queue' THEN ${maxWaiting - 1} ELSE ${maxTaskRuns} END
    FROM tasks
    WHERE tasks.id = fires.task_id
  )
  LIMIT 1
)`

/**
 * SQL for whether the workspace is stopped and no run waits for its end. With `missed: once`, one
 * run does, for all slots that pass while the workspace is stopped.
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
    WHEN ${isFull(sql, sql.literal("fires.task_id"))} THEN ${fullQueue}
    WHEN fires.queue_id IS NOT NULL AND ${sql.literal(waitsAlready)} THEN ${waitingInQueue}
    WHEN ${sql.literal(isDropped)} THEN ${workspaceStopped}
  END`

const fullQueue = errorLine(
  executionError(
    "too_many_runs",
    `the task has reached its limit of ${maxTaskRuns} unfinished runs`
  )
)

const waitingInQueue = errorLine(
  executionError("overlap", "the previous run was still waiting in its queue")
)

const workspaceStopped = errorLine(executionError("workspace_stopped", "the workspace was stopped"))
