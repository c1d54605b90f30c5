import type { Queue } from "@scheduling/sdk"
import { Pause, Pencil, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { ActionMenu, MenuItem, MenuLine } from "../ui/actions/Menu.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { Only } from "../ui/role.tsx"
import { queuesChanged } from "./queries.ts"
import { QueueSheet } from "./QueueSheet.tsx"

/** All that can be done with a queue. */
export const QueueMenu = ({ queue }: { readonly queue: Queue }) => {
  const { api, workspaceId } = useWorkspace()
  const [asked, ask] = useState<"delete" | "edit">()
  const close = () => ask(undefined)
  const { id, name } = queue
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, `${name} ${done}`)
    await queuesChanged(workspaceId)
  }
  return (
    <Only role="editor">
      <ActionMenu label={`Actions for ${name}`}>
        {queue.paused ? (
          <MenuItem
            icon={<RotateCcw className="size-4" />}
            onSelect={() => void act(() => api.queues.resume(id), "starts runs again")}
          >
            Resume
          </MenuItem>
        ) : (
          <MenuItem
            icon={<Pause className="size-4" />}
            onSelect={() => void act(() => api.queues.pause(id), "is paused")}
          >
            Pause
          </MenuItem>
        )}
        <MenuItem icon={<Pencil className="size-4" />} onSelect={() => ask("edit")}>
          Edit
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
      {asked === "edit" && <QueueSheet queue={queue} onClose={close} />}
      <Confirm
        isOpen={asked === "delete"}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete"
        onConfirm={async () => {
          await api.queues.remove(id)
          tell(`${name} was deleted`)
          await queuesChanged(workspaceId)
        }}
      >
        A queue that tasks or chains still name is not deleted.
      </Confirm>
    </Only>
  )
}
