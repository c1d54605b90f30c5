import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useEffectEvent } from "react"
import { client } from "../data/client.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { NewPasswordField } from "../ui/forms/PasswordFields.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthForm } from "./AuthForm.tsx"
import { textLinkClass } from "./AuthPage.tsx"
import { PasswordPage } from "./PasswordPage.tsx"
import { InvitationDescription, isInvitationPath, useInvitation } from "./Invitation.tsx"
import { session } from "../data/session.ts"
import * as bounds from "../data/bounds.ts"

export const RegisterPage = () => {
  const { next } = useSearch({ from: "/register" })
  const invitation = useInvitation()
  const isFirst = session.awaitsFirstAccount
  return (
    <PasswordPage
      title={isFirst ? "Create the first account" : "Create an account"}
      description={
        isInvitationPath(next) ? (
          <InvitationDescription invitation={invitation} />
        ) : isFirst ? (
          "This server has no accounts yet. Your account comes with a first workspace."
        ) : (
          "Your account comes with a first workspace."
        )
      }
      below={
        <>
          Already have an account?{" "}
          <Link to="/sign-in" search={next === undefined ? {} : { next }} className={textLinkClass}>
            Sign in
          </Link>
        </>
      }
    >
      <RegisterForm invitedEmail={invitation?.email ?? ""} next={next} />
    </PasswordPage>
  )
}

const RegisterForm = ({
  invitedEmail,
  next
}: {
  readonly invitedEmail: string
  readonly next: string | undefined
}) => {
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: "", email: invitedEmail, password: "" },
    send: async ({ email, name, password }) => {
      await client.auth.register({ email, password, ...(name.trim() !== "" && { name }) })
      await session.signIn({ email, password })
      await navigate({ href: next ?? "/", replace: true })
    }
  })
  // The invitation may arrive while the user is already typing.
  const fillEmail = useEffectEvent(() => {
    if (form.values.email === "") form.set({ email: invitedEmail })
  })
  useEffect(() => fillEmail(), [invitedEmail])
  return (
    <AuthForm form={form} action="Create account">
      <Field label="Name" hint="Optional." error={form.errorOf("name")}>
        <Input {...form.text("name")} autoComplete="name" {...bounds.Registration.name} autoFocus />
      </Field>
      <Field label="Email" error={form.errorOf("email")}>
        <Input {...form.text("email")} type="email" autoComplete="username" required />
      </Field>
      <NewPasswordField
        label="Password"
        {...form.text("password")}
        error={form.errorOf("password")}
      />
    </AuthForm>
  )
}
