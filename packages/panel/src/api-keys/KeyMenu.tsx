import type { ApiKey, CreatedApiKey } from "@scheduling/sdk"
import { Ban, RefreshCw, Trash2 } from "lucide-react"
import { useState } from "react"
import { Confirm, Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Select } from "../ui/forms/Field.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { ActionMenu, MenuItem, MenuLine } from "../ui/actions/Menu.tsx"
import { Ago } from "../ui/values/Time.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { useKeyActions } from "./useKeyActions.ts"
import { Only } from "../ui/role.tsx"

type Asked = "rotate" | "revoke" | "delete"

/** All that can be done with a key. */
export const KeyMenu = ({
  apiKey,
  onRemoved,
  onRotated
}: {
  readonly apiKey: ApiKey
  /** Called with the new key, which has to be shown now. */
  readonly onRotated: (created: CreatedApiKey) => void
  readonly onRemoved?: () => void
}) => {
  const { remove, revoke } = useKeyActions()
  const [asked, ask] = useState<Asked>()
  const close = () => ask(undefined)
  return (
    <Only role="admin">
      <ActionMenu label={`Actions for ${apiKey.name}`}>
        {apiKey.is_active && (
          <>
            <MenuItem icon={<RefreshCw className="size-4" />} onSelect={() => ask("rotate")}>
              Rotate
            </MenuItem>
            <MenuItem icon={<Ban className="size-4" />} onSelect={() => ask("revoke")}>
              Revoke
            </MenuItem>
            <MenuLine />
          </>
        )}
        <MenuItem
          isDanger
          icon={<Trash2 className="size-4 text-bad" />}
          onSelect={() => ask("delete")}
        >
          Delete
        </MenuItem>
      </ActionMenu>
      <RotateSheet
        apiKey={apiKey}
        isOpen={asked === "rotate"}
        onClose={close}
        onRotated={onRotated}
      />
      <Confirm
        isOpen={asked === "revoke"}
        onClose={close}
        title={`Revoke ${apiKey.name}?`}
        action="Revoke"
        onConfirm={() => revoke(apiKey)}
      >
        <WhatStops apiKey={apiKey} />
      </Confirm>
      <Confirm
        isOpen={asked === "delete"}
        onClose={close}
        title={`Delete ${apiKey.name}?`}
        action="Delete"
        onConfirm={async () => {
          await remove(apiKey)
          onRemoved?.()
        }}
      >
        <WhatStops apiKey={apiKey} /> It also goes off the list. The audit log keeps that it was
        there.
      </Confirm>
    </Only>
  )
}

const WhatStops = ({ apiKey: { is_active, last_used_at } }: { readonly apiKey: ApiKey }) => {
  if (!is_active) return "It does not work any more."
  return last_used_at === null ? (
    "Nobody has used it yet. From the next request on it is refused, everywhere at once."
  ) : (
    <>
      It was used{" "}
      <b className="text-ink">
        <Ago at={last_used_at} />
      </b>
      . Whatever uses it is refused from its next request on, everywhere at once.
    </>
  )
}

const graces = [
  ["0", "No time: revoke it at once"],
  ["3600", "An hour"],
  ["86400", "A day"],
  ["604800", "A week"]
] as const

const RotateSheet = ({
  apiKey,
  isOpen,
  onClose,
  onRotated
}: {
  readonly apiKey: ApiKey
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onRotated: (created: CreatedApiKey) => void
}) => {
  const { rotate } = useKeyActions()
  const form = useForm({
    initial: { grace_seconds: "3600" },
    send: async ({ grace_seconds }) => {
      const created = await rotate(apiKey, Number(grace_seconds))
      onClose()
      onRotated(created)
    }
  })
  return (
    <Sheet isOpen={isOpen} onClose={onClose} title={`Rotate ${apiKey.name}`}>
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <p className="text-soft">
          Makes a new key with the same name, scopes and expiry. Put it in place while both work.
        </p>
        <Field label="Keep the old key working for" error={form.errorOf("grace_seconds")}>
          <Select {...form.text("grace_seconds")} options={graces} />
        </Field>
        <FormEnd form={form} action="Rotate" onCancel={onClose} />
      </form>
    </Sheet>
  )
}
