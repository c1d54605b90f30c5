import type { ApiKey, CreatedApiKey } from "@scheduling/sdk"
import { Ban, RefreshCw, Trash2 } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { ActionMenu, MenuItem, MenuSeparator } from "../ui/actions/Menu.tsx"
import { RotateSheet } from "../ui/actions/RotateSheet.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { keyQueries } from "./queries.ts"

export const KeyMenu = ({
  apiKey,
  onRemoved,
  onRotated
}: {
  readonly apiKey: ApiKey
  /** Called with the new key, which is shown once. */
  readonly onRotated: (created: CreatedApiKey) => void
  readonly onRemoved?: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const [asked, ask] = useState<"rotate" | "revoke" | "delete">()
  const close = () => ask(undefined)
  const { id, is_active, name } = apiKey
  return (
    <RoleGate role="admin">
      <ActionMenu label={`Actions for ${name}`}>
        {is_active && (
          <>
            <MenuItem icon={<RefreshCw />} onSelect={() => ask("rotate")}>
              Rotate
            </MenuItem>
            <MenuItem icon={<Ban />} onSelect={() => ask("revoke")}>
              Revoke
            </MenuItem>
            <MenuSeparator />
          </>
        )}
        <MenuItem isDanger icon={<Trash2 />} onSelect={() => ask("delete")}>
          Delete
        </MenuItem>
      </ActionMenu>
      {asked === "rotate" && (
        <RotateSheet
          title={`Rotate ${name}`}
          description="This creates a new key with the same name, scopes and expiry. Replace the old key wherever you use it before it stops working."
          secret="key"
          onClose={close}
          onRotate={async (grace_seconds) => {
            onRotated(await api.apiKeys.rotate(id, { grace_seconds }))
            void keyQueries.changed(workspaceId)
          }}
        />
      )}
      <Confirm
        isOpen={asked === "revoke"}
        onClose={close}
        title={`Revoke ${name}?`}
        action="Revoke key"
        onConfirm={async () => {
          await api.apiKeys.revoke(id)
          showSuccessToast(`${name} was revoked`)
          await keyQueries.changed(workspaceId)
        }}
      >
        <Consequences apiKey={apiKey} />
      </Confirm>
      <Confirm
        isOpen={asked === "delete"}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete key"
        onConfirm={async () => {
          await api.apiKeys.delete(id)
          showSuccessToast(`${name} was deleted`)
          await keyQueries.changed(workspaceId)
          onRemoved?.()
        }}
      >
        <Consequences apiKey={apiKey} /> It is also removed from the list. The audit log keeps its
        events.
      </Confirm>
    </RoleGate>
  )
}

const Consequences = ({ apiKey: { is_active, last_used_at } }: { readonly apiKey: ApiKey }) => {
  if (!is_active) return "The key no longer works."
  return last_used_at === null ? (
    "The key has not been used yet. All requests with it will be rejected."
  ) : (
    <>
      The key was last used{" "}
      <b className="text-ink">
        <RelativeTime at={last_used_at} />
      </b>
      . All requests with it will be rejected.
    </>
  )
}
