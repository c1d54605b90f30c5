import type { TaskStatus } from "@scheduling/sdk"
import type { NavigateOptions } from "@tanstack/react-router"
import { useNavigate } from "@tanstack/react-router"
import { Copy, Pause, Pencil, Play, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { ActionMenu, MenuItem, MenuLine } from "../ui/actions/Menu.tsx"
import { Only } from "../ui/role.tsx"

interface Actions<Task> {
  readonly run: (task: Task) => Promise<unknown>
  readonly pause: (task: Task) => Promise<unknown>
  readonly resume: (task: Task) => Promise<unknown>
  readonly remove: (task: Task) => Promise<unknown>
}

/** All that can be done with what repeats. */
export const TaskMenu = <
  Task extends {
    readonly name: string
    readonly schedule: string | null
    readonly status: TaskStatus
  }
>({
  actions: { pause, remove, resume, run },
  copyLink,
  editLink,
  onRemoved,
  task,
  warning
}: {
  readonly task: Task
  readonly actions: Actions<Task>
  readonly editLink: NavigateOptions
  readonly copyLink: NavigateOptions
  /** What its end means. */
  readonly warning: string
  readonly onRemoved?: (() => void) | undefined
}) => {
  const navigate = useNavigate()
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Only role="editor">
      <ActionMenu label={`Actions for ${task.name}`}>
        <MenuItem icon={<Play className="size-4" />} onSelect={() => void run(task)}>
          Run now
        </MenuItem>
        {task.schedule === null ? null : task.status === "active" ? (
          <MenuItem icon={<Pause className="size-4" />} onSelect={() => void pause(task)}>
            Pause
          </MenuItem>
        ) : (
          <MenuItem icon={<RotateCcw className="size-4" />} onSelect={() => void resume(task)}>
            Resume
          </MenuItem>
        )}
        <MenuItem icon={<Pencil className="size-4" />} onSelect={() => void navigate(editLink)}>
          Edit
        </MenuItem>
        <MenuItem icon={<Copy className="size-4" />} onSelect={() => void navigate(copyLink)}>
          Duplicate
        </MenuItem>
        <MenuLine />
        <MenuItem
          isDanger
          icon={<Trash2 className="size-4 text-bad" />}
          onSelect={() => setRemoving(true)}
        >
          Delete
        </MenuItem>
      </ActionMenu>
      <Confirm
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title={`Delete ${task.name}?`}
        action="Delete"
        onConfirm={async () => {
          await remove(task)
          onRemoved?.()
        }}
      >
        {warning}
      </Confirm>
    </Only>
  )
}
