import { InvalidCodeError, InvalidCredentialsError, TotpRequiredError } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { FieldProblem } from "../ui/forms/issues.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthPage, textLink } from "./AuthPage.tsx"
import { isInvited } from "./isInvited.ts"
import { session } from "../data/session.ts"

export const SignInPage = () => {
  const { next } = useSearch({ from: "/sign-in" })
  const navigate = useNavigate()
  const passwordField = useRef<HTMLInputElement>(null)
  const [asksForCode, setAsksForCode] = useState(false)
  const form = useForm({
    initial: { email: "", password: "", totp: "" },
    send: async ({ email, password, totp }) => {
      try {
        await session.signIn({ email, password, ...(totp !== "" && { totp }) })
      } catch (error) {
        if (error instanceof InvalidCredentialsError) passwordField.current?.focus()
        if (error instanceof InvalidCodeError) throw new FieldProblem("totp", error.message)
        if (!(error instanceof TotpRequiredError)) throw error
        setAsksForCode(true)
        return
      }
      await navigate({ href: next ?? "/", replace: true })
    }
  })
  return (
    <AuthPage
      title={asksForCode ? "Enter your code" : "Sign in"}
      description={
        isInvited(next)
          ? "You are invited to a workspace. Sign in to join it, or create an account with the address that was invited."
          : undefined
      }
      below={
        asksForCode ? (
          <button
            type="button"
            className={textLink}
            onClick={() => {
              form.set({ password: "", totp: "" })
              setAsksForCode(false)
            }}
          >
            Sign in as somebody else
          </button>
        ) : (
          <>
            No account yet?{" "}
            <Link to="/register" search={next === undefined ? {} : { next }} className={textLink}>
              Create one
            </Link>
          </>
        )
      }
    >
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <div className={asksForCode ? "hidden" : "contents"}>
          <Field label="Email" error={form.errorOf("email")}>
            <Input
              {...form.text("email")}
              type="email"
              autoComplete="username"
              required
              autoFocus
            />
          </Field>
          <Field
            label="Password"
            error={form.errorOf("password")}
            side={
              <Link to="/forgot-password" className={`text-sm ${textLink}`}>
                Forgot it?
              </Link>
            }
          >
            <Input
              {...form.text("password")}
              ref={passwordField}
              type="password"
              autoComplete="current-password"
              required
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
        <Problem error={form.problem} />
        <Button type="submit" look="main" busy={form.isBusy}>
          {asksForCode ? "Confirm" : "Sign in"}
        </Button>
      </form>
    </AuthPage>
  )
}
