import type { Role } from "@scheduling/sdk"
import { Pause, Pencil, Play, Trash2 } from "lucide-react"
import { type ReactNode, useState } from "react"
import { RoleGate } from "../role.tsx"
import { Confirm } from "./Dialog.tsx"
import { ActionMenu, MenuItem, MenuSeparator } from "./Menu.tsx"

interface Pausing {
  readonly isPaused: boolean
  readonly pause: () => Promise<unknown>
  readonly resume: () => Promise<unknown>
}

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
  readonly pausing?: Pausing | undefined
  readonly onEdit?: () => void
  /** The confirmation dialog shows errors. */
  readonly onDelete: () => Promise<unknown>
  readonly warning: ReactNode
  readonly first?: ReactNode
  readonly children?: ReactNode
}) => {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <RoleGate role={role}>
      <ActionMenu label={`Actions for ${name}`}>
        {first}
        {pausing !== undefined && <PauseItem {...pausing} />}
        {onEdit !== undefined && (
          <MenuItem icon={<Pencil />} onSelect={onEdit}>
            Edit
          </MenuItem>
        )}
        {children}
        <MenuSeparator />
        <MenuItem isDanger icon={<Trash2 />} onSelect={() => setDeleting(true)}>
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
    </RoleGate>
  )
}

const PauseItem = ({ isPaused, pause, resume }: Pausing) =>
  isPaused ? (
    <MenuItem icon={<Play />} onSelect={() => void resume()}>
      Resume
    </MenuItem>
  ) : (
    <MenuItem icon={<Pause />} onSelect={() => void pause()}>
      Pause
    </MenuItem>
  )
