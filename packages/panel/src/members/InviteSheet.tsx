import type { CreatedInvitation, Role } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { refetchMembers } from "./queries.ts"
import { roleDescriptions } from "./roles.ts"

export const InviteSheet = ({
  onClose,
  onInvited
}: {
  readonly onClose: () => void
  readonly onInvited: (created: CreatedInvitation) => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const form = useForm({
    initial: { email: "", role: "editor" as Role },
    send: async (values) => {
      const created = await api.invitations.create(values)
      void refetchMembers(workspaceId)
      onInvited(created)
      onClose()
    }
  })
  return (
    <Sheet isOpen onClose={onClose} title="Invite a member">
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Email" error={form.errorOf("email")}>
          <Input {...form.text("email")} type="email" autoComplete="off" required autoFocus />
        </Field>
        <Field label="Role" error={form.errorOf("role")}>
          <Select {...form.text("role")} options={roleDescriptions} />
        </Field>
        <FormFooter form={form} action="Send invitation" onCancel={onClose} />
      </form>
    </Sheet>
  )
}
