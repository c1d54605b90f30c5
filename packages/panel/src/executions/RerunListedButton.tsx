import type { RerunFilter } from "@scheduling/sdk"
import { Play } from "lucide-react"
import { useRef, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { formatCount } from "../ui/values/format.ts"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { executionQueries } from "./queries.ts"

export const RerunListedButton = ({ filter }: { readonly filter: RerunFilter }) => {
  const { api, workspaceId } = useWorkspace()
  const [isAsking, setAsking] = useState(false)

  // If a request fails, the next attempt continues with it. Starting over would run the earlier
  // executions twice.
  const started = useRef<{ readonly count: number; readonly cursor?: string }>({ count: 0 })

  const runAll = async () => {
    do {
      const { count, cursor } = started.current
      const reruns = await api.executions.rerunMany({ ...filter, cursor })
      started.current = {
        count: count + reruns.count,
        ...(reruns.cursor !== null && { cursor: reruns.cursor })
      }
    } while (started.current.cursor !== undefined)
    const { count } = started.current
    started.current = { count: 0 }
    showSuccessToast(
      `${formatCount(count)} ${count === 1 ? "execution was" : "executions were"} started again`
    )
    await executionQueries.changed(workspaceId)
  }

  return (
    <>
      <Button icon={<Play />} onClick={() => setAsking(true)}>
        Run all again
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Run all ${filter.status.join(" and ")} executions again?`}
        action="Run again"
        onConfirm={runAll}
      >
        Every execution that matches the filters runs again now, with the current definition of its
        task. A chain runs again as a whole.
      </Confirm>
    </>
  )
}
