import { InvalidCodeError, InvalidCredentialsError, TotpRequiredError } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useRef } from "react"
import { session } from "../data/session.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FieldProblem } from "../ui/forms/issues.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthForm } from "./AuthForm.tsx"
import { textLinkClass } from "./AuthPage.tsx"

/**
 * Asks for an email address and a password, and then for a second-factor code if the account needs
 * one.
 */
export const SignInForm = ({
  asksForCode,
  email: known,
  onCode,
  onSignedIn
}: {
  /** The email address of the account whose session expired. */
  readonly email?: string
  readonly asksForCode: boolean
  /** Called if the account needs a second-factor code. */
  readonly onCode: () => void
  readonly onSignedIn: () => unknown
}) => {
  const passwordField = useRef<HTMLInputElement>(null)
  const form = useForm({
    initial: { email: known ?? "", password: "", totp: "" },
    send: async ({ email, password, totp }) => {
      try {
        await session.signIn({ email, password, ...(totp !== "" && { totp }) })
      } catch (error) {
        if (error instanceof InvalidCredentialsError) passwordField.current?.focus()
        if (error instanceof InvalidCodeError) throw new FieldProblem("totp", error.reason)
        if (!(error instanceof TotpRequiredError)) throw error
        onCode()
        return
      }
      await onSignedIn()
    }
  })
  return (
    <AuthForm form={form} action={asksForCode ? "Confirm code" : "Sign in"}>
      <div className={asksForCode ? "hidden" : "contents"}>
        <Field label="Email" error={form.errorOf("email")}>
          <Input
            {...form.text("email")}
            type="email"
            autoComplete="username"
            required
            readOnly={known !== undefined}
            autoFocus={known === undefined}
          />
        </Field>
        <Field
          label="Password"
          error={form.errorOf("password")}
          side={
            known === undefined && (
              <Link to="/forgot-password" className={`text-sm ${textLinkClass}`}>
                Forgot your password?
              </Link>
            )
          }
        >
          <Input
            {...form.text("password")}
            ref={passwordField}
            type="password"
            autoComplete="current-password"
            required
            autoFocus={known !== undefined}
          />
        </Field>
      </div>
      {asksForCode && (
        <Field
          label="Code"
          hint="Six digits from your authenticator app, or one of your recovery codes."
          error={form.errorOf("totp")}
        >
          <Input
            {...form.text("totp")}
            mono
            inputMode="text"
            autoComplete="one-time-code"
            required
            autoFocus
          />
        </Field>
      )}
    </AuthForm>
  )
}
