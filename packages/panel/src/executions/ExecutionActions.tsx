import type { ExecutionDetail } from "@scheduling/sdk"
import { Ban, Check, Play, X } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { runWithToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { executionQueries } from "./queries.ts"
import { useRerun } from "./useRerun.ts"

export const ExecutionActions = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const { api, workspaceId } = useWorkspace()
  const rerun = useRerun()
  const { id } = execution

  const cancel = async () => {
    await runWithToast(() => api.executions.cancel(id), "The execution was cancelled")
    await executionQueries.changed(workspaceId)
  }

  const decide = async (decision: "approve" | "reject") => {
    await runWithToast(
      () => api.executions[decision](id, {}),
      decision === "approve" ? "The step was approved" : "The step was rejected"
    )
    await executionQueries.changed(workspaceId)
  }

  return (
    <RoleGate role="editor">
      {execution.approval !== null && (
        <>
          <Button look="main" icon={<Check />} onClick={() => decide("approve")}>
            Approve
          </Button>
          <Button icon={<X />} onClick={() => decide("reject")}>
            Reject
          </Button>
        </>
      )}
      {execution.finished_at === null ? (
        <Button look="danger" icon={<Ban />} onClick={cancel}>
          Cancel execution
        </Button>
      ) : (
        <Button look="main" icon={<Play />} onClick={() => rerun(execution)}>
          Run again
        </Button>
      )}
    </RoleGate>
  )
}
