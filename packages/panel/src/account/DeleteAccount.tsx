import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { OwnerProofField, ownerProofOf, rethrowAsPasswordError } from "./ownerProof.tsx"

export const DeleteAccount = ({ hasPassword }: { readonly hasPassword: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Card className="flex flex-wrap items-center justify-between gap-4 p-5">
      <p className="max-w-[28rem] text-soft">
        This also deletes every workspace that you alone own, with everything in it.
      </p>
      <Button look="danger" onClick={() => setOpen(true)}>
        Delete account
      </Button>
      <Sheet isOpen={isOpen} onClose={close} title="Delete your account?">
        <DeletionForm hasPassword={hasPassword} onCancel={close} />
      </Sheet>
    </Card>
  )
}

const DeletionForm = ({
  hasPassword,
  onCancel
}: {
  readonly hasPassword: boolean
  readonly onCancel: () => void
}) => {
  const navigate = useNavigate()
  const form = useForm({
    initial: { current_password: "" },
    send: async ({ current_password }) => {
      await client.auth
        .deleteMe(ownerProofOf(current_password))
        .catch(rethrowAsPasswordError(hasPassword))
      // Deleting the account has also ended the session, so it does not matter if the sign-out
      // fails.
      await session.signOut().catch(() => {})
      queryClient.clear()
      await navigate({ to: "/sign-in", replace: true, ignoreBlocker: true })
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <p className="text-soft">
        Your tasks stop, and their history is deleted. This cannot be undone.
      </p>
      <OwnerProofField form={form} hasPassword={hasPassword} autoFocus />
      <FormFooter form={form} action="Delete permanently" look="danger" onCancel={onCancel} />
    </form>
  )
}
