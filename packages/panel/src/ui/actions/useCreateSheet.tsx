import type { Role } from "@scheduling/sdk"
import { Plus } from "lucide-react"
import { type ReactNode, useState } from "react"
import { RoleGate } from "../role.tsx"
import { Button } from "./Button.tsx"

/**
 * Returns the button that opens the form for a new record, and the form while it is open. They are
 * apart, because a page shows the button in more than one part.
 */
export const useCreateSheet = (
  label: string,
  form: (onClose: () => void) => ReactNode,
  role: Role = "editor"
) => {
  const [isOpen, setOpen] = useState(false)
  return {
    button: (
      <RoleGate role={role}>
        <Button look="main" icon={<Plus />} onClick={() => setOpen(true)}>
          {label}
        </Button>
      </RoleGate>
    ),
    sheet: isOpen && form(() => setOpen(false))
  }
}
