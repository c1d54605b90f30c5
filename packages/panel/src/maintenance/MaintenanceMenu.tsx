import type { MaintenanceWindow } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { MaintenanceSheet } from "./MaintenanceSheet.tsx"
import { refetchMaintenance } from "./queries.ts"

export const MaintenanceMenu = ({ window }: { readonly window: MaintenanceWindow }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  return (
    <>
      <RowMenu
        name={window.name}
        role="editor"
        onEdit={() => setEditing(true)}
        onDelete={async () => {
          await api.maintenance.delete(window.key)
          showSuccessToast(`${window.name} was deleted`)
          await refetchMaintenance(workspaceId)
        }}
        warning="If the maintenance is in progress, it ends, and monitors and tasks that still fail open incidents."
      />
      {isEditing && <MaintenanceSheet window={window} onClose={() => setEditing(false)} />}
    </>
  )
}
