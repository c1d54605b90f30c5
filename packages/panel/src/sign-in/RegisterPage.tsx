import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { NewPasswordField } from "../ui/forms/NewPasswordField.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { AuthPage, textLink } from "./AuthPage.tsx"
import { isInvited } from "./isInvited.ts"
import { session } from "../data/session.ts"

export const RegisterPage = () => {
  const { next } = useSearch({ from: "/register" })
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: "", email: "", password: "" },
    send: async ({ email, name, password }) => {
      await client.auth.register({ email, password, ...(name.trim() !== "" && { name }) })
      await session.signIn({ email, password })
      await navigate({ href: next ?? "/", replace: true })
    }
  })
  return (
    <AuthPage
      title="Create an account"
      description={
        isInvited(next)
          ? "You are invited to a workspace. Take the address that was invited."
          : "With a workspace of your own to begin with."
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
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <Field label="Name" hint="Optional." error={form.errorOf("name")}>
          <Input {...form.text("name")} autoComplete="name" maxLength={100} autoFocus />
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
    </AuthPage>
  )
}
