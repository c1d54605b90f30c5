import * as bounds from "../../data/bounds.ts"
import { Field, Input } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { DurationField } from "../../ui/forms/DurationField.tsx"
import { PlaceFields } from "./PlaceFields.tsx"
import type { CheckValues } from "./checkValues.ts"

/**
 * The fields for how often and from where a target is checked, and how many consecutive results
 * change the status.
 */
export const CheckFields = (group: FieldGroupProps<CheckValues>) => {
  const { errorOf, onChange, values } = group
  const text = inputPropsOf(values, onChange)
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <DurationField
          label="Check every"
          limits={bounds.HttpMonitorInput.interval_seconds}
          value={values.interval_seconds}
          onChange={(interval_seconds) => onChange({ interval_seconds })}
          error={errorOf("interval_seconds")}
        />
        <Field label="Timeout (seconds)" error={errorOf("timeout_seconds")}>
          <Input
            {...text("timeout_seconds")}
            type="number"
            {...bounds.HttpMonitorInput.timeout_seconds}
            required
          />
        </Field>
      </div>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="Down after (failures)"
          hint="Consecutive failures. After the first failure, the next checks follow within seconds."
          error={errorOf("confirm_after")}
        >
          <Input
            {...text("confirm_after")}
            type="number"
            {...bounds.HttpMonitorInput.confirm_after}
            required
          />
        </Field>
        <Field
          label="Up after (successes)"
          hint="Consecutive successes while the monitor is down."
          error={errorOf("recover_after")}
        >
          <Input
            {...text("recover_after")}
            type="number"
            {...bounds.HttpMonitorInput.recover_after}
            required
          />
        </Field>
      </div>
      <PlaceFields {...group} />
    </>
  )
}
