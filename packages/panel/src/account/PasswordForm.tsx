import { queryClient } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { CurrentPasswordField, NewPasswordField } from "../ui/forms/PasswordFields.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { rethrowAsFieldProblem } from "./rethrowAsFieldProblem.ts"
import { sessionListOptions } from "./queries.ts"

export const PasswordForm = () => {
  const form = useForm({
    initial: { current_password: "", new_password: "" },
    send: async (passwords) => {
      await session.changePassword(passwords).catch(rethrowAsFieldProblem)
      form.set({ current_password: "", new_password: "" })
      showSuccessToast("Your password was changed, and all your other sessions were ended")
      await queryClient.invalidateQueries({ queryKey: sessionListOptions.queryKey })
    }
  })
  return (
    <Card className="p-5">
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <div className="grid gap-4 sm:grid-cols-2">
          <CurrentPasswordField
            {...form.text("current_password")}
            error={form.errorOf("current_password")}
          />
          <NewPasswordField {...form.text("new_password")} error={form.errorOf("new_password")} />
        </div>
        <p className="text-sm text-faint">Changing your password ends all your other sessions.</p>
        <FormFooter form={form} action="Change password" look="plain" />
      </form>
    </Card>
  )
}
