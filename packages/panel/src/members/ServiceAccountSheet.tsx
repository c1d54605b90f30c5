import type { CreatedServiceAccount, ServiceAccount, ServiceAccountInput } from "@scheduling/sdk"
import * as bounds from "../data/bounds.ts"
import { useWorkspace } from "../data/client.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { serviceAccountQueries } from "./queries.ts"
import { roleDescriptions } from "./roles.ts"

/** Creates or edits a service account. */
export const ServiceAccountSheet = ({
  account,
  onClose,
  onCreated
}: {
  readonly account?: ServiceAccount
  readonly onClose: () => void
  /** Called with the secret, which is shown once. */
  readonly onCreated?: (created: CreatedServiceAccount) => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const initial: ServiceAccountInput = {
    name: account?.name ?? "",
    role: account?.role ?? "admin"
  }
  const form = useForm({
    initial,
    send: async (values) => {
      if (account === undefined) onCreated?.(await api.serviceAccounts.create(values))
      else await api.serviceAccounts.update(account.id, values)
      void serviceAccountQueries.changed(workspaceId)
      onClose()
    }
  })
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={account === undefined ? "New service account" : `Edit ${account.name}`}
    >
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Name" error={form.errorOf("name")}>
          <Input
            {...form.text("name")}
            {...bounds.ServiceAccountInput.name}
            autoComplete="off"
            required
            autoFocus
          />
        </Field>
        <Field label="Role" error={form.errorOf("role")}>
          <Select
            {...form.text("role")}
            options={roleDescriptions.filter(([role]) => role !== "owner")}
          />
        </Field>
        <FormFooter
          form={form}
          action={account === undefined ? "Create service account" : "Save changes"}
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}
