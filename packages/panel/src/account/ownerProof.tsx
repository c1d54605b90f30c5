import { useLocation } from "@tanstack/react-router"
import type { ComponentProps } from "react"
import { textLinkClass } from "../sign-in/AuthPage.tsx"
import { CurrentPasswordField } from "../ui/forms/PasswordFields.tsx"
import { rethrowAsFieldProblem } from "./rethrowAsFieldProblem.ts"
import { useSignOut } from "../sign-in/useSignOut.ts"

/**
 * Returns the owner's password as a request body field. An account without a password has no such
 * field.
 */
export const ownerProofOf = (password: string): { readonly current_password?: string } =>
  password === "" ? {} : { current_password: password }

/**
 * Shows a password error below the password field, which accounts without a password do not have.
 */
export const rethrowAsPasswordError = (hasPassword: boolean) => (error: unknown) => {
  if (hasPassword) rethrowAsFieldProblem(error)
  throw error
}

/**
 * The current-password field, which proves that the user owns the account. Owners without a
 * password must have signed in recently instead.
 */
export const OwnerProofField = ({
  form,
  hasPassword,
  label = "Your password",
  ...input
}: Pick<ComponentProps<typeof CurrentPasswordField>, "autoFocus" | "label"> & {
  readonly form: {
    readonly text: (
      name: "current_password"
    ) => Omit<ComponentProps<typeof CurrentPasswordField>, "error" | "label">
    readonly errorOf: (name: "current_password") => string | undefined
  }
  readonly hasPassword: boolean
}) =>
  hasPassword ? (
    <CurrentPasswordField
      label={label}
      {...form.text("current_password")}
      error={form.errorOf("current_password")}
      {...input}
    />
  ) : (
    <RecentSignIn />
  )

const RecentSignIn = () => {
  const signOut = useSignOut()
  const next = useLocation({ select: ({ href }) => href })
  return (
    <p className="text-sm text-soft">
      This needs a sign-in from the last 10 minutes.{" "}
      <button type="button" className={textLinkClass} onClick={() => void signOut({ next })}>
        Sign in again
      </button>
    </p>
  )
}
