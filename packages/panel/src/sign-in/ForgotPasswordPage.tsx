import { ResourceConflictError } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../data/client.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthForm } from "./AuthForm.tsx"
import { textLinkClass } from "./AuthPage.tsx"
import { PasswordPage } from "./PasswordPage.tsx"

export const ForgotPasswordPage = () => {
  const [isSent, setSent] = useState(false)
  const form = useForm({
    initial: { email: "" },
    send: async ({ email }) => {
      await client.auth.forgotPassword({ email })
      setSent(true)
    }
  })
  return (
    <PasswordPage
      title="Set a new password"
      description="You will receive a link by email. It is valid for one hour."
      below={
        <Link to="/sign-in" className={textLinkClass}>
          Back to sign in
        </Link>
      }
    >
      {isSent ? (
        <p role="status">
          If an account has the email address <b>{form.values.email}</b>, an email with a link was
          sent to it.
        </p>
      ) : (
        <AuthForm form={form} action="Send link">
          <Field label="Email" error={form.errorOf("email")}>
            <Input
              {...form.text("email")}
              type="email"
              autoComplete="username"
              required
              autoFocus
            />
          </Field>
          {form.problem instanceof ResourceConflictError && (
            <p className="text-soft">
              Ask the operator of this server for a token. The operator creates it with{" "}
              <code className="font-mono text-sm">npm run account</code>.
            </p>
          )}
        </AuthForm>
      )}
    </PasswordPage>
  )
}
