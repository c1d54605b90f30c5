import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { session } from "../data/session.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthForm } from "./AuthForm.tsx"
import { AuthPage, textLinkClass } from "./AuthPage.tsx"
import { takeLinkToken } from "./linkToken.ts"

/** Signs in with the token of a link from the operator, for users who cannot sign in otherwise. */
export const SignInLinkPage = () => {
  const [linkToken] = useState(takeLinkToken)
  const navigate = useNavigate()
  const form = useForm({
    initial: { token: linkToken },
    send: async ({ token }) => {
      await session.signInWithLink(token.trim())
      await navigate({ to: "/account/settings", replace: true })
    }
  })
  return (
    <AuthPage
      title="Sign in with a token"
      description="Afterwards, add a passkey to your account, or link it by signing in another way."
      below={
        <Link to="/sign-in" className={textLinkClass}>
          Back to sign in
        </Link>
      }
    >
      <AuthForm form={form} action="Sign in">
        {linkToken === "" && (
          <Field
            label="Token"
            hint="From the operator of this server."
            error={form.errorOf("token")}
          >
            <Input {...form.text("token")} mono required autoFocus />
          </Field>
        )}
      </AuthForm>
    </AuthPage>
  )
}
