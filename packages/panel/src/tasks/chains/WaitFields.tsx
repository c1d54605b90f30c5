import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import * as bounds from "../../data/bounds.ts"
import type { StepValues } from "./chainValues.ts"

/** The fields for a step that waits for a duration or until a given time. */
export const WaitFields = ({ errorOf, onChange, values }: FieldGroupProps<StepValues>) => {
  const text = inputPropsOf(values, onChange)
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <Field label="Wait">
        <Select
          options={[
            ["seconds", "For a number of seconds"],
            ["until", "Until a given time"]
          ]}
          {...text("wait_for")}
        />
      </Field>
      {values.wait_for === "seconds" ? (
        <Field label="Seconds" hint="At most 90 days (7,776,000 s)." error={errorOf("seconds")}>
          <Input type="number" required {...bounds.WaitStepInput.seconds} {...text("seconds")} />
        </Field>
      ) : (
        <Field
          label="Time"
          hint="An ISO 8601 time with Z or an offset, or a value such as {{ input.at }}."
          error={errorOf("until")}
        >
          <Input mono required {...bounds.WaitStepInput.until} {...text("until")} />
        </Field>
      )}
    </div>
  )
}
