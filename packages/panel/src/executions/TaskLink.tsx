import type { Execution } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { LinkToTask } from "./LinkToTask.tsx"
import { TaskName } from "./TaskName.tsx"

/** Leads to the task of an execution, or to the run of its chain. */
export const TaskLink = ({
  execution: { chain_run_id, kind, task_id }
}: {
  readonly execution: Execution
}) => {
  const { workspaceId } = useWorkspace()
  return (
    <LinkToTask
      kind={kind}
      taskId={task_id}
      runId={chain_run_id}
      className="font-medium hover:underline"
    >
      <TaskName workspaceId={workspaceId} taskId={task_id} />
    </LinkToTask>
  )
}
