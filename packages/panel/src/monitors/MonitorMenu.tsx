import type { Monitor } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Pause, Pencil, RotateCcw, Trash2 } from "lucide-react"
import { type ReactNode, useState } from "react"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { ActionMenu, MenuItem, MenuLine } from "../ui/actions/Menu.tsx"
import { editMonitorLink } from "./links.ts"
import { useMonitorActions } from "./useMonitorActions.ts"
import { Only } from "../ui/role.tsx"

/** What can be done with a monitor of any kind. */
export const MonitorMenu = ({
  children,
  monitor,
  onRemoved
}: {
  readonly monitor: Pick<Monitor, "id" | "kind" | "name" | "status" | "workspace_id">
  /** What only its kind can do. */
  readonly children?: ReactNode
  readonly onRemoved?: () => void
}) => {
  const navigate = useNavigate()
  const { pause, remove, resume } = useMonitorActions()
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Only role="editor">
      <ActionMenu label={`Actions for ${monitor.name}`}>
        {monitor.status === "paused" ? (
          <MenuItem icon={<RotateCcw className="size-4" />} onSelect={() => void resume(monitor)}>
            Resume
          </MenuItem>
        ) : (
          <MenuItem icon={<Pause className="size-4" />} onSelect={() => void pause(monitor)}>
            Pause
          </MenuItem>
        )}
        <MenuItem
          icon={<Pencil className="size-4" />}
          onSelect={() => void navigate(editMonitorLink(monitor))}
        >
          Edit
        </MenuItem>
        {children}
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
        title={`Delete ${monitor.name}?`}
        action="Delete"
        onConfirm={async () => {
          await remove(monitor)
          onRemoved?.()
        }}
      >
        Its events and incidents go with it.
        {monitor.kind === "heartbeat" && " Its ping URL answers 404 at once."}
      </Confirm>
    </Only>
  )
}
