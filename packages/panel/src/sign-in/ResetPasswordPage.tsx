import { useState } from "react"
import { Link, useNavigate } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { NewPasswordField } from "../ui/forms/PasswordFields.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthForm } from "./AuthForm.tsx"
import { textLinkClass } from "./AuthPage.tsx"
import { PasswordPage } from "./PasswordPage.tsx"
import { takeLinkToken } from "./linkToken.ts"

export const ResetPasswordPage = () => {
  const [linkToken] = useState(takeLinkToken)
  const navigate = useNavigate()
  const form = useForm({
    initial: { token: linkToken, new_password: "" },
    send: async (values) => {
      await client.auth.resetPassword(values)
      showSuccessToast("Your password was set. Sign in with it.")
      await navigate({ to: "/sign-in" })
    }
  })
  return (
    <PasswordPage
      title="Set a new password"
      description="This ends all your sessions."
      below={
        <Link to="/forgot-password" className={textLinkClass}>
          Send a new link
        </Link>
      }
    >
      <AuthForm form={form} action="Set password">
        {linkToken === "" && (
          <Field
            label="Token"
            hint="From the email, or from the operator of this server."
            error={form.errorOf("token")}
          >
            <Input {...form.text("token")} mono required autoFocus />
          </Field>
        )}
        <NewPasswordField {...form.text("new_password")} error={form.errorOf("new_password")} />
      </AuthForm>
    </PasswordPage>
  )
}
