import { Field, Input } from "../../ui/forms/Field.tsx"
import { Card, Section } from "../../ui/layout/Page.tsx"
import type { CallbackValues } from "./callbackValues.ts"
import { typedInto } from "../typedInto.ts"

/** Who is told that a run has ended. */
export const CallbackFields = ({
  errorOf,
  onChange,
  values
}: {
  readonly values: CallbackValues
  readonly onChange: (change: Partial<CallbackValues>) => void
  readonly errorOf: (field: keyof CallbackValues) => string | undefined
}) => {
  const text = typedInto(values, onChange)
  const placeholder = "https://api.example.com/hooks/scheduling"
  return (
    <Section title="When a run has ended">
      <Card className="flex flex-col gap-5 p-5">
        <Field
          label="Call on failure"
          hint="This URL gets a signed POST when a run has failed for good."
          error={errorOf("on_failure")}
        >
          <Input type="url" mono placeholder={placeholder} {...text("on_failure")} />
        </Field>
        <Field label="Call on success" error={errorOf("on_success")}>
          <Input type="url" mono placeholder={placeholder} {...text("on_success")} />
        </Field>
      </Card>
    </Section>
  )
}
