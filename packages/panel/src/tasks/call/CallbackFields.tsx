import { Field, Input } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import type { CallbackValues } from "./callbackValues.ts"

export const CallbackFields = ({ errorOf, onChange, values }: FieldGroupProps<CallbackValues>) => {
  const text = inputPropsOf(values, onChange)
  const placeholder = "https://api.example.com/hooks/scheduling"
  return (
    <Section title="Callbacks">
      <Card className="flex flex-col gap-5 p-5">
        <Field
          label="Failure callback"
          hint="Receives a signed POST when a run has failed after its last retry."
          error={errorOf("on_failure")}
        >
          <Input type="url" mono placeholder={placeholder} {...text("on_failure")} />
        </Field>
        <Field
          label="Success callback"
          hint="Receives a signed POST when a run has succeeded."
          error={errorOf("on_success")}
        >
          <Input type="url" mono placeholder={placeholder} {...text("on_success")} />
        </Field>
      </Card>
    </Section>
  )
}
