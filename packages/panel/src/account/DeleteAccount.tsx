import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../data/client.ts"
import { queries } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { CurrentPasswordField } from "../ui/forms/PasswordFields.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { throwAtField } from "./throwAtField.ts"

export const DeleteAccount = () => {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Card className="flex flex-wrap items-center justify-between gap-4 p-5">
      <p className="max-w-[28rem] text-soft">
        This also deletes every workspace that you are the only owner of, with everything in it.
      </p>
      <Button look="danger" onClick={() => setOpen(true)}>
        Delete account
      </Button>
      <Sheet isOpen={isOpen} onClose={close} title="Delete your account?">
        <DeletionForm onCancel={close} />
      </Sheet>
    </Card>
  )
}

const DeletionForm = ({ onCancel }: { readonly onCancel: () => void }) => {
  const navigate = useNavigate()
  const form = useForm({
    initial: { current_password: "" },
    send: async (values) => {
      await client.auth.deleteMe(values).catch(throwAtField)
      // The session has ended with the account, so a failed sign-out does not matter.
      await session.signOut().catch(() => {})
      queries.clear()
      await navigate({ to: "/sign-in", replace: true, ignoreBlocker: true })
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <p className="text-soft">
        Your tasks stop, and their history is deleted. This cannot be undone.
      </p>
      <CurrentPasswordField
        label="Your password"
        {...form.text("current_password")}
        error={form.errorOf("current_password")}
        autoFocus
      />
      <FormEnd form={form} action="Delete permanently" look="danger" onCancel={onCancel} />
    </form>
  )
}
