import type { ExecutionDetail } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Ban, Play } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { taskLink } from "../data/tasks.ts"
import { Button } from "../ui/actions/Button.tsx"
import { attempt, notifyProblem } from "../ui/messages/toast.ts"
import { Only } from "../ui/role.tsx"
import { executionQueries } from "./queries.ts"

export const ExecutionActions = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const { id, task_id } = execution

  const cancel = async () => {
    await attempt(() => api.executions.cancel(id), "The execution was cancelled")
    await executionQueries.changed(workspaceId)
  }

  const rerun = async () => {
    try {
      const { chain_run_id, id: executionId } = await api.executions.rerun(id)
      await (chain_run_id === null
        ? navigate({
            to: "/w/$workspaceId/executions/$executionId",
            params: { workspaceId, executionId }
          })
        : navigate(taskLink(workspaceId, "chain", task_id, chain_run_id)))
    } catch (error) {
      notifyProblem(error)
    }
    await executionQueries.changed(workspaceId)
  }

  return (
    <Only role="editor">
      {execution.finished_at === null ? (
        <Button look="danger" icon={<Ban />} onClick={cancel}>
          Cancel execution
        </Button>
      ) : (
        <Button look="main" icon={<Play />} onClick={rerun}>
          Run again
        </Button>
      )}
    </Only>
  )
}
