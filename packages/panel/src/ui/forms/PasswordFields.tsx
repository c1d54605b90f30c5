import type { ComponentProps } from "react"
import { Field, Input } from "./Field.tsx"

type Props = Pick<ComponentProps<"input">, "autoFocus" | "name" | "onChange" | "value"> & {
  readonly label?: string
  readonly error: string | undefined
}

export const CurrentPasswordField = ({ error, label = "Current password", ...input }: Props) => (
  <Field label={label} error={error}>
    <Input {...input} type="password" autoComplete="current-password" required />
  </Field>
)

export const NewPasswordField = ({ error, label = "New password", ...input }: Props) => (
  <Field
    label={label}
    hint="12 characters or more. Four random words make a good password."
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
