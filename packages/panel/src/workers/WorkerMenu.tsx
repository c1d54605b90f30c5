import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { MenuItem } from "../ui/actions/Menu.tsx"
import { RotateSheet } from "../ui/actions/RotateSheet.tsx"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { workerQueries } from "./queries.ts"
import { WorkerSheet } from "./WorkerSheet.tsx"

export const WorkerMenu = ({
  onCreated,
  onRemoved,
  worker
}: {
  readonly worker: Worker
  /** Called with the new token, which is shown once. */
  readonly onCreated: (created: CreatedWorker) => void
  readonly onRemoved?: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const [asked, ask] = useState<"edit" | "rotate">()
  const close = () => ask(undefined)
  const { id, name } = worker
  const act = async (work: () => Promise<unknown>, done: string) => {
    await runWithToast(work, `${name} ${done}`)
    await workerQueries.changed(workspaceId)
  }
  return (
    <>
      <RowMenu
        name={name}
        role="admin"
        pausing={{
          isPaused: worker.status === "paused",
          pause: () => act(() => api.workers.pause(id), "was paused"),
          resume: () => act(() => api.workers.resume(id), "was resumed")
        }}
        onEdit={() => ask("edit")}
        onDelete={async () => {
          await api.workers.delete(id)
          showSuccessToast(`${name} was deleted`)
          onRemoved?.()
          await workerQueries.changed(workspaceId)
        }}
        warning="The token stops working immediately. The runs of this worker restart on other workers."
      >
        <MenuItem icon={<RefreshCw />} onSelect={() => ask("rotate")}>
          Rotate token
        </MenuItem>
      </RowMenu>
      {asked === "edit" && <WorkerSheet worker={worker} onClose={close} onCreated={onCreated} />}
      {asked === "rotate" && (
        <RotateSheet
          title={`Rotate the token of ${name}`}
          secret="token"
          onClose={close}
          onRotate={async (grace_seconds) => {
            onCreated(await api.workers.rotate(id, { grace_seconds }))
            void workerQueries.changed(workspaceId)
          }}
        />
      )}
    </>
  )
}
