import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { Pause, Pencil, RefreshCw, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { ActionMenu, MenuItem, MenuLine } from "../ui/actions/Menu.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { workersChanged } from "./queries.ts"
import { RotateSheet, WorkerSheet } from "./WorkerSheets.tsx"
import { Only } from "../ui/role.tsx"

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
  const [asked, ask] = useState<"delete" | "edit" | "rotate">()
  const close = () => ask(undefined)
  const { id, name } = worker
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, `${name} ${done}`)
    await workersChanged(workspaceId)
  }
  return (
    <Only role="admin">
      <ActionMenu label={`Actions for ${name}`}>
        {worker.status === "paused" ? (
          <MenuItem
            icon={<RotateCcw className="size-4" />}
            onSelect={() => void act(() => api.workers.resume(id), "takes runs again")}
          >
            Resume
          </MenuItem>
        ) : (
          <MenuItem
            icon={<Pause className="size-4" />}
            onSelect={() => void act(() => api.workers.pause(id), "is paused")}
          >
            Pause
          </MenuItem>
        )}
        <MenuItem icon={<Pencil className="size-4" />} onSelect={() => ask("edit")}>
          Edit
        </MenuItem>
        <MenuItem icon={<RefreshCw className="size-4" />} onSelect={() => ask("rotate")}>
          New token
        </MenuItem>
        <MenuLine />
        <MenuItem
          isDanger
          icon={<Trash2 className="size-4 text-bad" />}
          onSelect={() => ask("delete")}
        >
          Delete
        </MenuItem>
      </ActionMenu>
      {asked === "edit" && <WorkerSheet worker={worker} onClose={close} onCreated={onCreated} />}
      {asked === "rotate" && <RotateSheet worker={worker} onClose={close} onCreated={onCreated} />}
      <Confirm
        isOpen={asked === "delete"}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete"
        onConfirm={async () => {
          await api.workers.remove(id)
          tell(`${name} was deleted`)
          onRemoved?.()
          await workersChanged(workspaceId)
        }}
      >
        Its token stops working at once. Runs that it holds start on other workers.
      </Confirm>
    </Only>
  )
}
