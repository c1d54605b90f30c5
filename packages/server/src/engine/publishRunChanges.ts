import type { EventExecution } from "@scheduling/domain/events/Event"
import type { ExecutionStatus } from "@scheduling/domain/executions/Execution"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { ChainId, ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import { type Change, type Changes, taskChange } from "../events/index.ts"
import type { SettleResult } from "./SettleResult.ts"
import type { QueuedRun, SettleableRun, Settlement, StartedRun } from "./Run.ts"

/**
 * Publishes the new statuses of runs whose results were written, and the tasks that were paused.
 */
export const publishSettled = (
  changes: Changes,
  settlements: ReadonlyArray<Settlement>,
  settled: Pick<SettleResult, "ids" | "paused" | "lastSteps">
): void => {
  if (changes.isIdle) return
  for (const { workspace_id, ...task } of settled.paused) {
    changes.publish(workspace_id, [taskChange("task.updated", task)])
  }
  const written = new Set(settled.ids)
  const lastSteps = new Set(settled.lastSteps)
  publishRuns(
    changes,
    settlements.filter(({ id }) => written.has(id)),
    (settlement) => [
      executionChange(settledExecution(settlement)),
      ...chainRunChanges(settlement, lastSteps)
    ]
  )
}

export const publishStarted = (changes: Changes, runs: ReadonlyArray<StartedRun>): void => {
  if (changes.isIdle) return
  publishRuns(changes, runs, (run) => [
    executionChange({
      ...idsOf(run),
      status: "running",
      attempts_count: run.attempt,
      status_code: null,
      error: null
    })
  ])
}

export const publishQueued = (changes: Changes, run: QueuedRun): void => {
  changes.publish(run.workspace_id, [
    executionChange({
      ...idsOf(run),
      status: "queued",
      attempts_count: 0,
      status_code: null,
      error: null
    })
  ])
}

const publishRuns = <Run extends { readonly workspace_id: string }>(
  changes: Changes,
  runs: ReadonlyArray<Run>,
  changesOf: (run: Run) => ReadonlyArray<Change>
): void => {
  const followed = runs.filter(({ workspace_id }) => changes.isFollowed(workspace_id))
  for (const [workspaceId, own] of Map.groupBy(followed, (run) => run.workspace_id)) {
    changes.publish(workspaceId, own.flatMap(changesOf))
  }
}

const idsOf = (
  run: Pick<SettleableRun, "id" | "kind" | "task_id"> & {
    readonly position?: SettleableRun["position"]
    readonly chain_run_id?: string | null
  }
) => {
  const chain_run_id = run.chain_run_id ?? run.position?.chain_run_id
  return {
    id: ExecutionId.make(run.id),
    kind: run.kind,
    task_id: TaskId.make(run.task_id),
    chain_run_id: chain_run_id === undefined ? null : ChainRunId.make(chain_run_id)
  }
}

/** Without a status, the run is retried or awaits its completion. */
const settledExecution = (settlement: Settlement): EventExecution => {
  const { attempt, completes_by_ms, error, started, status, status_code } = settlement
  return {
    ...idsOf(settlement),
    status: status ?? (completes_by_ms === null ? "queued" : "running"),
    attempts_count: started ? attempt : attempt - 1,
    status_code,
    error
  }
}

const executionChange = (execution: EventExecution): Change => ({
  type: `execution.${execution.status}`,
  data: { execution }
})

/**
 * Returns the change of the chain run, if this settlement finishes it. The ids of finished runs do
 * not show whether a chain run has finished, because the first step has the id of its chain run.
 */
const chainRunChanges = (
  settlement: Settlement,
  lastSteps: ReadonlySet<string>
): ReadonlyArray<Change> => {
  const { id, position, status, task_id } = settlement
  if (status === null || !lastSteps.has(id)) return []
  const endStatus: FinishedStatus =
    status === "succeeded" && position?.after_failure === true ? "failed" : status
  const chain_run = {
    id: ChainRunId.make(position?.chain_run_id ?? id),
    chain_id: ChainId.make(task_id),
    status: endStatus
  }
  const execution = settledExecution(settlement)
  return [{ type: `chain_run.${endStatus}`, data: { chain_run, execution } }]
}

type FinishedStatus = Exclude<ExecutionStatus, "queued" | "running">
