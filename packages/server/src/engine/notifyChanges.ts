import { TaskId } from "@scheduling/domain/executions/Execution"
import { ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import type { Change, Changes } from "../events/index.ts"
import type { Settled } from "./Settled.ts"
import type { QueuedRun, SettledRun, Settlement, StartedRun } from "./Run.ts"

type Status = Extract<Change, { readonly type: "execution" }>["status"]

/** Publishes the changes of the runs that were written, and of the tasks that were disabled. */
export const notifySettled = (
  changes: Changes,
  settlements: ReadonlyArray<Settlement>,
  settled: Pick<Settled, "ids" | "disabled">
): void => {
  if (changes.isIdle) return
  const written = new Set(settled.ids)
  for (const { id, kind, workspace_id } of settled.disabled) {
    changes.publish(workspace_id, [
      { type: "task", kind, task_id: TaskId.make(id), change: "updated" }
    ])
  }
  publishRuns(
    changes,
    settlements.filter(({ id }) => written.has(id)),
    ({ completes_by_ms, status }) => status ?? (completes_by_ms === null ? "queued" : "running")
  )
}

export const notifyStarted = (changes: Changes, runs: ReadonlyArray<StartedRun>): void => {
  if (!changes.isIdle) publishRuns(changes, runs, () => "running")
}

export const notifyQueued = (changes: Changes, run: QueuedRun): void => {
  const { chain_run_id, id, kind, task_id, workspace_id } = run
  changes.publish(workspace_id, [changeOf({ id, kind, task_id, chain_run_id }, "queued")])
}

const publishRuns = <
  Run extends Pick<SettledRun, "id" | "workspace_id" | "task_id" | "kind" | "position">
>(
  changes: Changes,
  runs: ReadonlyArray<Run>,
  statusOf: (run: Run) => Status
): void => {
  const followed = runs.filter(({ workspace_id }) => changes.isFollowed(workspace_id))
  for (const [workspaceId, own] of Map.groupBy(followed, (run) => run.workspace_id)) {
    changes.publish(
      workspaceId,
      own.map((run) =>
        changeOf({ ...run, chain_run_id: run.position?.chain_run_id ?? null }, statusOf(run))
      )
    )
  }
}

const changeOf = (
  run: Pick<QueuedRun, "id" | "kind" | "task_id" | "chain_run_id">,
  status: Status
): Change => ({
  type: "execution",
  execution_id: ExecutionId.make(run.id),
  kind: run.kind,
  task_id: TaskId.make(run.task_id),
  chain_run_id: run.chain_run_id === null ? null : ChainRunId.make(run.chain_run_id),
  status
})
