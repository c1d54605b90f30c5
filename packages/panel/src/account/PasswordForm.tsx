import { queries } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { NewPasswordField } from "../ui/forms/NewPasswordField.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { tell } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { atItsField } from "./atItsField.ts"
import { sessionListOptions } from "./queries.ts"

export const PasswordForm = () => {
  const form = useForm({
    initial: { current_password: "", new_password: "" },
    send: async (passwords) => {
      await session.changePassword(passwords).catch(atItsField)
      form.set({ current_password: "", new_password: "" })
      tell("Your password was changed, and all other sessions have ended")
      await queries.invalidateQueries({ queryKey: sessionListOptions.queryKey })
    }
  })
  return (
    <Card className="p-5">
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Current password" error={form.errorOf("current_password")}>
            <Input
              {...form.text("current_password")}
              type="password"
              autoComplete="current-password"
              required
            />
          </Field>
          <NewPasswordField {...form.text("new_password")} error={form.errorOf("new_password")} />
        </div>
        <p className="text-sm text-faint">This ends all your other sessions.</p>
        <FormEnd form={form} action="Change password" look="plain" />
      </form>
    </Card>
  )
}
