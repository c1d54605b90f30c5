import { ConflictError } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthPage, textLink } from "./AuthPage.tsx"

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
    <AuthPage
      title="Set a new password"
      description="We send a link to your email address. It works for an hour."
      below={
        <Link to="/sign-in" className={textLink}>
          Back to sign in
        </Link>
      }
    >
      {isSent ? (
        <p role="status">
          If there is an account for <b>{form.values.email}</b>, a mail with a link is on its way.
        </p>
      ) : (
        <form className="flex flex-col gap-4" onSubmit={form.submit}>
          <Field label="Email" error={form.errorOf("email")}>
            <Input
              {...form.text("email")}
              type="email"
              autoComplete="username"
              required
              autoFocus
            />
          </Field>
          <Problem error={form.problem} />
          {form.problem instanceof ConflictError && (
            <p className="text-soft">
              Ask whoever runs this server:{" "}
              <code className="font-mono text-sm">npm run account</code> makes a token for you.
            </p>
          )}
          <Button type="submit" look="main" busy={form.isBusy}>
            Send the link
          </Button>
        </form>
      )}
    </AuthPage>
  )
}
