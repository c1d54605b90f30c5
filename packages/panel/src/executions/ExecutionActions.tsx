import type { ExecutionDetail } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Ban, Play } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { tell, tellProblem } from "../ui/messages/toast.ts"
import { executionsChanged } from "./queries.ts"
import { Only } from "../ui/role.tsx"

/** Stops what is under way; runs again what has ended. */
export const ExecutionActions = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  const { id, kind, task_id } = execution

  const act = async (work: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      tellProblem(error)
    }
    setBusy(false)
    await executionsChanged(workspaceId)
  }

  const cancel = () =>
    act(async () => {
      const noun = kind === "chain" ? api.chains : kind === "cron" ? api.cron : api.delayed
      await noun.cancel(task_id, id)
      tell("It is cancelled")
    })

  const runAgain = () =>
    act(async () => {
      const again = await api.executions.rerun(id)
      if (again.chain_run_id !== null) {
        return navigate({
          to: "/w/$workspaceId/chains/$taskId",
          params: { workspaceId, taskId: task_id },
          search: { run: again.chain_run_id }
        })
      }
      return navigate({
        to: "/w/$workspaceId/executions/$executionId",
        params: { workspaceId, executionId: again.id }
      })
    })

  return (
    <Only role="editor">
      {execution.finished_at === null ? (
        <Button look="danger" busy={isBusy} icon={<Ban className="size-4" />} onClick={cancel}>
          Cancel
        </Button>
      ) : (
        <Button look="main" busy={isBusy} icon={<Play className="size-4" />} onClick={runAgain}>
          Run again
        </Button>
      )}
    </Only>
  )
}
