import type { Execution } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { taskLink } from "../data/tasks.ts"
import { showErrorToast } from "../ui/messages/toast.ts"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import { executionQueries } from "./queries.ts"

/** Returns a function that runs an execution again and opens the new one. */
export const useRerun = () => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigateAfterAction()
  return async ({ id, task_id }: Pick<Execution, "id" | "task_id">) => {
    try {
      const { chain_run_id, id: executionId } = await api.executions.rerun(id)
      await (chain_run_id === null
        ? navigate({
            to: "/w/$workspaceId/executions/$executionId",
            params: { workspaceId, executionId }
          })
        : navigate(taskLink(workspaceId, "chain", task_id, chain_run_id)))
    } catch (error) {
      showErrorToast(error)
    }
    await executionQueries.changed(workspaceId)
  }
}
