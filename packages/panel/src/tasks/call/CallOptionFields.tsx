import type { Completion } from "@scheduling/sdk"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { Fold } from "../../ui/layout/Fold.tsx"
import type { CallOptionValues } from "./callOptionValues.ts"
import { typedInto } from "../typedInto.ts"
import * as bounds from "../../data/bounds.ts"

/** What counts as a success, and how long to wait before the next attempt. */
export const CallOptionFields = ({
  errorOf,
  onChange,
  values
}: {
  readonly values: CallOptionValues
  readonly onChange: (change: Partial<CallOptionValues>) => void
  readonly errorOf: (field: keyof CallOptionValues) => string | undefined
}) => {
  const text = typedInto(values, onChange)
  return (
    <Fold summary="Advanced">
      <div className="flex flex-col gap-5">
        <Field
          label="An attempt ends"
          hint="A job that keeps running after it has answered sends a POST to the URL in Scheduling-Complete-Url when it is done."
          error={errorOf("completion")}
        >
          <Select
            options={[
              ["", "With the answer"],
              ["callback", "When the job calls back"],
              ["auto", "When the job calls back, if the answer says so"]
            ]}
            value={values.completion}
            onChange={({ target }) => onChange({ completion: target.value as Completion | "" })}
          />
        </Field>
        <Field
          label="Statuses that are a success"
          hint="Codes and ranges, such as 200-299, 404. Without any, 200-299."
          error={errorOf("success_codes")}
        >
          <Input mono placeholder="200-299" {...text("success_codes")} />
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field
            label="The answer must contain"
            hint="In its first 10,000 bytes."
            error={errorOf("body_contains")}
          >
            <Input mono {...bounds.CronTaskInput.body_contains} {...text("body_contains")} />
          </Field>
          <Field
            label="The answer must not contain"
            hint="In its first 10,000 bytes."
            error={errorOf("body_lacks")}
          >
            <Input mono {...bounds.CronTaskInput.body_lacks} {...text("body_lacks")} />
          </Field>
        </div>
        <div className="grid grid-cols-3 gap-4">
          <Field label="First wait, seconds" error={errorOf("first_seconds")}>
            <Input
              type="number"
              {...bounds.RetryInput.first_seconds}
              placeholder="1"
              {...text("first_seconds")}
            />
          </Field>
          <Field label="Factor" error={errorOf("factor")}>
            <Input
              type="number"
              {...bounds.RetryInput.factor}
              step="any"
              placeholder="2"
              {...text("factor")}
            />
          </Field>
          <Field label="Longest wait, seconds" error={errorOf("max_seconds")}>
            <Input
              type="number"
              {...bounds.RetryInput.max_seconds}
              placeholder="3600"
              {...text("max_seconds")}
            />
          </Field>
        </div>
      </div>
    </Fold>
  )
}
