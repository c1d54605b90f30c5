import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { NewPasswordField } from "../ui/forms/NewPasswordField.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthPage, textLink } from "./AuthPage.tsx"
import { Invited } from "./Invited.tsx"
import { isInvited } from "./isInvited.ts"
import { session } from "../data/session.ts"
import { useInvitation } from "./useInvitation.ts"
import * as bounds from "../data/bounds.ts"

export const RegisterPage = () => {
  const { next } = useSearch({ from: "/register" })
  const invitation = useInvitation()
  const isFirst = session.awaitsFirstAccount
  return (
    <AuthPage
      title={isFirst ? "Create the first account" : "Create an account"}
      description={
        isInvited(next) ? (
          <Invited invitation={invitation} />
        ) : isFirst ? (
          "Nobody has an account on this server yet. Yours comes with a workspace to begin with."
        ) : (
          "With a workspace of your own to begin with."
        )
      }
      below={
        <>
          Have an account?{" "}
          <Link to="/sign-in" search={next === undefined ? {} : { next }} className={textLink}>
            Sign in
          </Link>
        </>
      }
    >
      <RegisterForm key={invitation?.email} email={invitation?.email ?? ""} next={next} />
    </AuthPage>
  )
}

const RegisterForm = ({
  email: invited,
  next
}: {
  readonly email: string
  readonly next: string | undefined
}) => {
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: "", email: invited, password: "" },
    send: async ({ email, name, password }) => {
      await client.auth.register({ email, password, ...(name.trim() !== "" && { name }) })
      await session.signIn({ email, password })
      await navigate({ href: next ?? "/", replace: true })
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
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
      <Problem error={form.problem} />
      <Button type="submit" look="main" busy={form.isBusy}>
        Create account
      </Button>
    </form>
  )
}
