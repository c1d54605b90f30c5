import { useQuery } from "@tanstack/react-query"
import { use, useState } from "react"
import { createPortal } from "react-dom"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Select } from "../ui/forms/Field.tsx"
import { RoleContext, useHasRole } from "../ui/role.tsx"
import { secretsOptions } from "./queries.ts"
import { SecretSheet } from "./SecretSheet.tsx"

/** Returns the workspace's secrets. Empty until the user is known to be allowed to list them. */
export const useSecrets = () => {
  const { workspaceId } = useWorkspace()
  const isKnown = use(RoleContext) !== undefined
  return useQuery({ ...secretsOptions(workspaceId), enabled: useHasRole()("editor") && isKnown })
}

/** Lets the user select one of the workspace's secrets by name. */
export const SecretField = ({
  error,
  label,
  onChange,
  value
}: {
  readonly label: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (name: string) => void
}) => {
  const [isCreating, setCreating] = useState(false)
  const names = (useSecrets().data ?? []).map(({ name }) => name)
  // The selected secret may not exist, because tasks can refer to any name.
  const known = value === "" || names.includes(value) ? names : [value, ...names]
  return (
    <>
      <Field label={label} error={error}>
        <div className="flex gap-2">
          <Select
            required
            className="min-w-0 grow"
            value={value}
            options={[["", "Choose a secret"], ...known.map((name) => [name, name] as const)]}
            onChange={({ target }) => onChange(target.value)}
          />
          <Button onClick={() => setCreating(true)}>New secret…</Button>
        </div>
      </Field>
      {isCreating &&
        // The sheet contains a form, which must not be nested in the form of this field.
        createPortal(
          <SecretSheet onClose={() => setCreating(false)} onSaved={onChange} />,
          document.body
        )}
    </>
  )
}
