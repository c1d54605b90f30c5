import type { CronTask } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Copy, Pause, Pencil, Play, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { Confirm } from "../../ui/Dialog.tsx"
import { ActionMenu, MenuItem, MenuLine } from "../../ui/Menu.tsx"
import { useCronActions } from "./useCronActions.ts"
import { Only } from "../../ui/role.tsx"

/** All that can be done with a task. */
export const CronMenu = ({
  onRemoved,
  task
}: {
  readonly task: CronTask
  readonly onRemoved?: () => void
}) => {
  const navigate = useNavigate()
  const { pause, remove, resume, run } = useCronActions()
  const [isRemoving, setRemoving] = useState(false)
  const params = { workspaceId: task.workspace_id, taskId: task.id }
  return (
    <Only role="editor">
      <ActionMenu label={`Actions for ${task.name}`}>
        <MenuItem icon={<Play className="size-4" />} onSelect={() => run(task)}>
          Run now
        </MenuItem>
        {task.status === "active" ? (
          <MenuItem icon={<Pause className="size-4" />} onSelect={() => pause(task)}>
            Pause
          </MenuItem>
        ) : (
          <MenuItem icon={<RotateCcw className="size-4" />} onSelect={() => resume(task)}>
            Resume
          </MenuItem>
        )}
        <MenuItem
          icon={<Pencil className="size-4" />}
          onSelect={() => navigate({ to: "/w/$workspaceId/cron/$taskId/edit", params })}
        >
          Edit
        </MenuItem>
        <MenuItem
          icon={<Copy className="size-4" />}
          onSelect={() =>
            navigate({ to: "/w/$workspaceId/cron/new", params, search: { from: task.id } })
          }
        >
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
        It stops firing, and runs that are queued or running are cancelled. Its executions stay
        readable.
      </Confirm>
    </Only>
  )
}
