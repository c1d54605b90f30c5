import * as bounds from "../../data/bounds.ts"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { countChanged } from "../../ui/forms/merge.ts"
import { CollapsibleSection } from "../../ui/layout/CollapsibleSection.tsx"
import { type CallOptionValues, completionLabels, newCallOptionValues } from "./callOptionValues.ts"

export const CallOptionFields = ({
  errorOf,
  onChange,
  values
}: FieldGroupProps<CallOptionValues>) => {
  const text = inputPropsOf(values, onChange)
  const inResponse = "In the first 10,000 bytes of the response."
  return (
    <CollapsibleSection summary="Advanced" count={countChanged(newCallOptionValues, values)}>
      <div className="flex flex-col gap-5">
        <Field
          label="An attempt finishes"
          hint="A job that continues after it has responded reports its result with a POST to the URL in the header Scheduling-Complete-Url."
          error={errorOf("completion")}
        >
          <Select
            options={[["", "With the response"], ...Object.entries(completionLabels)]}
            {...text("completion")}
          />
        </Field>
        <Field
          label="Success status codes"
          hint="Codes and ranges, such as 200-299, 404. Defaults to 200-299."
          error={errorOf("success_codes")}
        >
          <Input mono placeholder="200-299" {...text("success_codes")} />
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="Response must contain" hint={inResponse} error={errorOf("body_contains")}>
            <Input mono {...bounds.CronTaskInput.body_contains} {...text("body_contains")} />
          </Field>
          <Field label="Response must not contain" hint={inResponse} error={errorOf("body_lacks")}>
            <Input mono {...bounds.CronTaskInput.body_lacks} {...text("body_lacks")} />
          </Field>
        </div>
        <div className="grid grid-cols-3 gap-4">
          {(
            [
              ["first_seconds", "First retry after (seconds)", "1"],
              ["factor", "Backoff factor", "2"],
              ["max_seconds", "Maximum wait (seconds)", "3600"]
            ] as const
          ).map(([field, label, placeholder]) => (
            <Field key={field} label={label} error={errorOf(field)}>
              <Input
                type="number"
                {...bounds.RetryInput[field]}
                step={field === "factor" ? "any" : 1}
                placeholder={placeholder}
                {...text(field)}
              />
            </Field>
          ))}
        </div>
      </div>
    </CollapsibleSection>
  )
}
