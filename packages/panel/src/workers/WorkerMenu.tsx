import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { MenuItem } from "../ui/actions/Menu.tsx"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { workersChanged } from "./queries.ts"
import { RotateSheet, WorkerSheet } from "./WorkerSheets.tsx"

/** All that can be done with a worker. */
export const WorkerMenu = ({
  onCreated,
  onRemoved,
  worker
}: {
  readonly worker: Worker
  /** Called with the new token, which has to be shown now. */
  readonly onCreated: (created: CreatedWorker) => void
  readonly onRemoved?: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const [asked, ask] = useState<"edit" | "rotate">()
  const close = () => ask(undefined)
  const { id, name } = worker
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, `${name} ${done}`)
    await workersChanged(workspaceId)
  }
  return (
    <>
      <RowMenu
        name={name}
        role="admin"
        pausing={{
          isPaused: worker.status === "paused",
          pause: () => act(() => api.workers.pause(id), "is paused"),
          resume: () => act(() => api.workers.resume(id), "takes runs again")
        }}
        onEdit={() => ask("edit")}
        onDelete={async () => {
          await api.workers.remove(id)
          tell(`${name} was deleted`)
          onRemoved?.()
          await workersChanged(workspaceId)
        }}
        warning="Its token stops working at once. Runs that it holds start on other workers."
      >
        <MenuItem icon={<RefreshCw className="size-4" />} onSelect={() => ask("rotate")}>
          New token
        </MenuItem>
      </RowMenu>
      {asked === "edit" && <WorkerSheet worker={worker} onClose={close} onCreated={onCreated} />}
      {asked === "rotate" && <RotateSheet worker={worker} onClose={close} onCreated={onCreated} />}
    </>
  )
}
