import type { User } from "@scheduling/sdk"
import { client } from "../data/client.ts"
import { meOptions, queryClient } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { OwnerProofField, ownerProofOf, rethrowAsPasswordError } from "./ownerProof.tsx"
import * as bounds from "../data/bounds.ts"

const changed = () => queryClient.invalidateQueries(meOptions)

export const NameForm = ({ me }: { readonly me: User }) => {
  const form = useForm({
    initial: { name: me.name ?? "" },
    send: async ({ name }) => {
      await client.auth.updateMe({ name: name.trim() === "" ? null : name })
      showSuccessToast("Your name was changed")
      await changed()
    }
  })
  return (
    <Card className="p-5">
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <Field label="Name" error={form.errorOf("name")}>
          <Input {...form.text("name")} autoComplete="name" {...bounds.Registration.name} />
        </Field>
        <FormFooter form={form} action="Save name" look="plain" />
      </form>
    </Card>
  )
}

export const EmailForm = ({
  hasPassword,
  me
}: {
  readonly me: User
  readonly hasPassword: boolean
}) => {
  const form = useForm({
    initial: { email: me.email, current_password: "" },
    send: async ({ current_password, email }) => {
      const { pending_email } = await client.auth
        .updateMe({ email, ...ownerProofOf(current_password) })
        .catch(rethrowAsPasswordError(hasPassword))
      showSuccessToast(
        pending_email === null
          ? "This is already your email address"
          : `Open the link in the email to ${pending_email} to confirm your new email address`
      )
      form.set({ current_password: "" })
      await changed()
    }
  })
  const isChanged = form.values.email !== me.email
  return (
    <Card className="p-5">
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <Field
          label="Email"
          hint={me.email_verified ? "Verified." : "Not verified yet."}
          error={form.errorOf("email")}
        >
          <Input {...form.text("email")} type="email" autoComplete="email" required />
        </Field>
        {(me.pending_email !== null || !me.email_verified) && (
          <p className="flex flex-wrap items-center justify-between gap-3 text-sm text-soft">
            {me.pending_email === null
              ? "To verify this address, open the link in the email to it."
              : `To confirm your new email address, open the link in the email to ${me.pending_email}.`}
            <Button
              size="small"
              onClick={() =>
                runWithToast(() => client.auth.resendEmailLink(), "The link was sent again")
              }
            >
              Send the link again
            </Button>
          </p>
        )}
        {isChanged && (
          <OwnerProofField form={form} hasPassword={hasPassword} label="Current password" />
        )}
        {isChanged && <FormFooter form={form} action="Change email" look="plain" />}
      </form>
    </Card>
  )
}
