import { RotateCcw } from "lucide-react"
import { useState } from "react"
import { Button } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"

/** A button that restores a version of a record after a confirmation. */
export const RestoreButton = ({
  label,
  name,
  restore,
  version
}: {
  readonly label: string
  /** The name of the record. */
  readonly name: string
  readonly version: number
  readonly restore: () => Promise<unknown>
}) => {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <RoleGate role="editor">
      <Button size="small" icon={<RotateCcw />} onClick={() => setConfirming(true)}>
        {label}
      </Button>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Restore version ${version} of ${name}?`}
        action="Restore"
        onConfirm={async () => {
          await restore()
          showSuccessToast(`Version ${version} of ${name} was restored`)
        }}
      >
        All later changes are undone. They stay in the list of versions.
      </Confirm>
    </RoleGate>
  )
}
