import type { StatusPage } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { refetchStatusPages } from "./queries.ts"
import { StatusPageSheet } from "./StatusPageSheet.tsx"

export const StatusPageMenu = ({ page }: { readonly page: StatusPage }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  return (
    <>
      <RowMenu
        name={page.title}
        role="editor"
        onEdit={() => setEditing(true)}
        onDelete={async () => {
          await api.statusPages.delete(page.slug)
          showSuccessToast(`${page.title} was deleted`)
          await refetchStatusPages(workspaceId)
        }}
        warning="Its public address stops working. The monitors stay."
      />
      {isEditing && <StatusPageSheet page={page} onClose={() => setEditing(false)} />}
    </>
  )
}
