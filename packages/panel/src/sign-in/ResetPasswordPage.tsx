import { useState } from "react"
import { Link, useNavigate } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { NewPasswordField } from "../ui/forms/NewPasswordField.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { tell } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthPage, textLink } from "./AuthPage.tsx"
import { takeLinkToken } from "./linkToken.ts"

export const ResetPasswordPage = () => {
  const [linkToken] = useState(takeLinkToken)
  const navigate = useNavigate()
  const form = useForm({
    initial: { token: linkToken, new_password: "" },
    send: async (values) => {
      await client.auth.resetPassword(values)
      tell("Your password is set. Sign in with it.")
      await navigate({ to: "/sign-in" })
    }
  })
  return (
    <AuthPage
      title="Set a new password"
      description="You will be signed out everywhere."
      below={
        <Link to="/forgot-password" className={textLink}>
          Get a new link
        </Link>
      }
    >
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        {linkToken === "" && (
          <Field
            label="Token"
            hint="From the mail, or from whoever runs this server."
            error={form.errorOf("token")}
          >
            <Input {...form.text("token")} mono required autoFocus />
          </Field>
        )}
        <NewPasswordField {...form.text("new_password")} error={form.errorOf("new_password")} />
        <Problem error={form.problem} />
        <Button type="submit" look="main" busy={form.isBusy}>
          Set password
        </Button>
      </form>
    </AuthPage>
  )
}
