import * as bounds from "../../data/bounds.ts"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { countChanged } from "../../ui/forms/merge.ts"
import { CollapsibleSection } from "../../ui/layout/CollapsibleSection.tsx"
import { userTimeZone } from "../../ui/values/format.ts"
import { type FiringOptionValues, newFiringOptionValues } from "./firingOptionValues.ts"
import { pauseLabels } from "./firingLabels.ts"

export const FiringOptionFields = ({
  errorOf,
  onChange,
  values
}: FieldGroupProps<FiringOptionValues>) => {
  const text = inputPropsOf(values, onChange)
  const zone = `In the time zone ${userTimeZone()}.`
  return (
    <CollapsibleSection
      summary="Seconds, dates, jitter and pauses"
      count={countChanged(newFiringOptionValues, values)}
    >
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Precision" hint="Runs must be at least 5 seconds apart.">
          <Select
            options={[
              ["minute", "Minutes: five fields"],
              ["second", "Seconds: an additional first field"]
            ]}
            {...text("precision")}
          />
        </Field>
        <Field label="Starts at" hint={zone} error={errorOf("starts_at")}>
          <Input type="datetime-local" step={1} {...text("starts_at")} />
        </Field>
        <Field label="Ends at" hint={zone} error={errorOf("ends_at")}>
          <Input type="datetime-local" step={1} {...text("ends_at")} />
        </Field>
        <Field
          label="Excluded days"
          hint="Dates without runs, in the schedule's time zone."
          error={errorOf("excluded_days")}
        >
          <Input mono placeholder="2026-12-24, 2026-12-25" {...text("excluded_days")} />
        </Field>
        <Field
          label="Calendar of excluded days"
          hint="The URL of an iCalendar file, read once a day. Days with an all-day event have no runs."
          error={errorOf("excluded_calendar")}
        >
          <Input
            mono
            type="url"
            placeholder="https://calendar.example.com/holidays.ics"
            {...text("excluded_calendar")}
          />
        </Field>
        <Field
          label="Jitter (seconds)"
          hint="Delays each run by a random time, up to this many seconds."
          error={errorOf("jitter_seconds")}
        >
          <Input
            type="number"
            {...bounds.CronTaskInput.jitter_seconds}
            placeholder="0"
            {...text("jitter_seconds")}
          />
        </Field>
        <Field label="When the task is paused">
          <Select options={Object.entries(pauseLabels)} {...text("on_pause")} />
        </Field>
        <Field
          label="Pause after consecutive failures"
          hint="Leave empty to never pause the task."
          error={errorOf("pause_after_failures")}
        >
          <Input
            type="number"
            {...bounds.CronTaskInput.pause_after_failures}
            {...text("pause_after_failures")}
          />
        </Field>
      </div>
    </CollapsibleSection>
  )
}
