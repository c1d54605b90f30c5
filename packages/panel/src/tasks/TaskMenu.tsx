import type { TaskStatus } from "@scheduling/sdk"
import type { NavigateOptions } from "@tanstack/react-router"
import { useNavigate } from "@tanstack/react-router"
import { Copy, Play } from "lucide-react"
import { MenuItem } from "../ui/actions/Menu.tsx"
import { RowMenu } from "../ui/actions/RowMenu.tsx"

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
  return (
    <RowMenu
      name={task.name}
      role="editor"
      first={
        <MenuItem icon={<Play className="size-4" />} onSelect={() => void run(task)}>
          Run now
        </MenuItem>
      }
      pausing={
        task.schedule === null
          ? undefined
          : {
              isPaused: task.status !== "active",
              pause: () => pause(task),
              resume: () => resume(task)
            }
      }
      onEdit={() => void navigate(editLink)}
      onDelete={async () => {
        await remove(task)
        onRemoved?.()
      }}
      warning={warning}
    >
      <MenuItem icon={<Copy className="size-4" />} onSelect={() => void navigate(copyLink)}>
        Duplicate
      </MenuItem>
    </RowMenu>
  )
}
