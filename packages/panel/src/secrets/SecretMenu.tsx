import type { Secret } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { refetchSecrets } from "./queries.ts"
import { SecretSheet } from "./SecretSheet.tsx"
import { SecretUseLinks } from "./SecretUseLinks.tsx"

export const SecretMenu = ({ secret }: { readonly secret: Secret }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  const { name, used_by } = secret
  return (
    <>
      <RowMenu
        name={name}
        role="editor"
        onEdit={() => setEditing(true)}
        onDelete={async () => {
          try {
            await api.secrets.delete(name)
            showSuccessToast(`${name} was deleted`)
          } finally {
            // The error names the records that use the secret. The cached list may not contain
            // those records yet, so it is refetched.
            void refetchSecrets(workspaceId)
          }
        }}
        warning={
          used_by.length === 0 ? (
            "Nothing uses it. Its value cannot be restored."
          ) : (
            <>
              A secret that is in use cannot be deleted. It is used by{" "}
              <SecretUseLinks uses={used_by} />.
            </>
          )
        }
      />
      {isEditing && <SecretSheet secret={secret} onClose={() => setEditing(false)} />}
    </>
  )
}
