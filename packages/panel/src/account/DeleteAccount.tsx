import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../data/client.ts"
import { queries } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { atItsField } from "./atItsField.ts"

export const DeleteAccount = () => {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Card className="flex flex-wrap items-center justify-between gap-4 p-5">
      <p className="max-w-[28rem] text-soft">
        It also deletes every workspace of which you are the only owner, with all that is in it.
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
      await client.auth.removeMe(values).catch(atItsField)
      // The session ended with the account, so a failed log-out can be ignored.
      await session.signOut().catch(() => {})
      queries.clear()
      await navigate({ to: "/sign-in", replace: true, ignoreBlocker: true })
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <p className="text-soft">Your tasks stop, and their history is gone. There is no way back.</p>
      <Field label="Your password" error={form.errorOf("current_password")}>
        <Input
          {...form.text("current_password")}
          type="password"
          autoComplete="current-password"
          required
          autoFocus
        />
      </Field>
      <FormEnd form={form} action="Delete permanently" look="danger" onCancel={onCancel} />
    </form>
  )
}
