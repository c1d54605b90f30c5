import type { Role } from "@scheduling/sdk"
import { Pause, Pencil, RotateCcw, Trash2 } from "lucide-react"
import { type ReactNode, useState } from "react"
import { Only } from "../role.tsx"
import { Confirm } from "./Dialog.tsx"
import { ActionMenu, MenuItem, MenuLine } from "./Menu.tsx"

interface Pausing {
  readonly isPaused: boolean
  readonly pause: () => Promise<unknown>
  readonly resume: () => Promise<unknown>
}

/** The menu of what can be edited and deleted, and perhaps paused, for those with a role. */
export const RowMenu = ({
  children,
  first,
  name,
  onDelete,
  onEdit,
  pausing,
  role,
  warning
}: {
  readonly name: string
  readonly role: Role
  /** Undefined where there is nothing to pause. */
  readonly pausing: Pausing | undefined
  readonly onEdit: () => void
  /** It may throw: the dialog that asks shows what went wrong. */
  readonly onDelete: () => Promise<unknown>
  /** What its end means. */
  readonly warning: ReactNode
  /** What comes before all else. */
  readonly first?: ReactNode
  /** What else can be done. */
  readonly children?: ReactNode
}) => {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Only role={role}>
      <ActionMenu label={`Actions for ${name}`}>
        {first}
        {pausing !== undefined && <PauseItem {...pausing} />}
        <MenuItem icon={<Pencil className="size-4" />} onSelect={onEdit}>
          Edit
        </MenuItem>
        {children}
        <MenuLine />
        <MenuItem
          isDanger
          icon={<Trash2 className="size-4 text-bad" />}
          onSelect={() => setDeleting(true)}
        >
          Delete
        </MenuItem>
      </ActionMenu>
      <Confirm
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${name}?`}
        action="Delete"
        onConfirm={onDelete}
      >
        {warning}
      </Confirm>
    </Only>
  )
}

const PauseItem = ({ isPaused, pause, resume }: Pausing) =>
  isPaused ? (
    <MenuItem icon={<RotateCcw className="size-4" />} onSelect={() => void resume()}>
      Resume
    </MenuItem>
  ) : (
    <MenuItem icon={<Pause className="size-4" />} onSelect={() => void pause()}>
      Pause
    </MenuItem>
  )
