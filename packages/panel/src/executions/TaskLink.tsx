import type { Execution } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { TaskName } from "./TaskName.tsx"

/** Leads to the task of an execution, or to the run of its chain. */
export const TaskLink = ({
  execution: { chain_run_id, kind, task_id }
}: {
  readonly execution: Execution
}) => {
  const { workspaceId } = useWorkspace()
  const name = <TaskName workspaceId={workspaceId} kind={kind} taskId={task_id} />
  const className = "font-medium hover:underline"
  if (kind === "chain") {
    return (
      <Link
        to="/w/$workspaceId/chains/$chainId"
        params={{ workspaceId, chainId: task_id }}
        search={chain_run_id === null ? {} : { run: chain_run_id }}
        className={className}
      >
        {name}
      </Link>
    )
  }
  return (
    <Link
      to={kind === "cron" ? "/w/$workspaceId/cron/$taskId" : "/w/$workspaceId/delayed/$taskId"}
      params={{ workspaceId, taskId: task_id }}
      className={className}
    >
      {name}
    </Link>
  )
}
