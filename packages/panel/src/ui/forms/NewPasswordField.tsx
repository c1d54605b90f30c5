import type { ComponentProps } from "react"
import { Field, Input } from "./Field.tsx"

/** A password that somebody chooses. */
export const NewPasswordField = ({
  error,
  label = "New password",
  ...input
}: Pick<ComponentProps<"input">, "name" | "value" | "onChange"> & {
  readonly label?: string
  readonly error: string | undefined
}) => (
  <Field
    label={label}
    hint="12 characters or more. Four random words make a good one."
    error={error}
  >
    <Input
      {...input}
      type="password"
      autoComplete="new-password"
      minLength={12}
      maxLength={256}
      required
    />
  </Field>
)
