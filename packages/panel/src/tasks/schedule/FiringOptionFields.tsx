import type { OnPause, Precision } from "@scheduling/sdk"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { Fold } from "../../ui/layout/Fold.tsx"
import { readersZone } from "../../ui/values/format.ts"
import type { FiringOptionValues } from "./firingOptionValues.ts"
import { pauses } from "./firingWords.ts"
import { typedInto } from "../typedInto.ts"
import * as bounds from "../../data/bounds.ts"

/** Which slots of a schedule count, and when it pauses. */
export const FiringOptionFields = ({
  errorOf,
  onChange,
  values
}: {
  readonly values: FiringOptionValues
  readonly onChange: (change: Partial<FiringOptionValues>) => void
  readonly errorOf: (field: keyof FiringOptionValues) => string | undefined
}) => {
  const text = typedInto(values, onChange)
  const onClock = `In ${readersZone()}.`
  return (
    <Fold summary="Seconds, dates, jitter and pauses">
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Precision" hint="At least 5 seconds between two runs.">
          <Select
            options={[
              ["minute", "Minutes: five fields"],
              ["second", "Seconds: a sixth field, first"]
            ]}
            value={values.precision}
            onChange={(event) => onChange({ precision: event.target.value as Precision })}
          />
        </Field>
        <Field label="Starts" hint={onClock} error={errorOf("starts_at")}>
          <Input type="datetime-local" step={1} {...text("starts_at")} />
        </Field>
        <Field label="Ends" hint={onClock} error={errorOf("ends_at")}>
          <Input type="datetime-local" step={1} {...text("ends_at")} />
        </Field>
        <Field
          label="Days without runs"
          hint="Dates in the time zone of the schedule."
          error={errorOf("excluded_days")}
        >
          <Input mono placeholder="2026-12-24, 2026-12-25" {...text("excluded_days")} />
        </Field>
        <Field
          label="Calendar of days without runs"
          hint="The address of an iCalendar file, read once a day. Its all-day events count."
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
          label="Jitter, seconds"
          hint="Each run starts later by a random time, at most this long."
          error={errorOf("jitter_seconds")}
        >
          <Input
            type="number"
            {...bounds.CronTaskInput.jitter_seconds}
            placeholder="0"
            {...text("jitter_seconds")}
          />
        </Field>
        <Field label="When it is paused">
          <Select
            options={Object.entries(pauses)}
            value={values.on_pause}
            onChange={(event) => onChange({ on_pause: event.target.value as OnPause })}
          />
        </Field>
        <Field
          label="Pause after failures in a row"
          hint="Empty means never."
          error={errorOf("disable_after_failures")}
        >
          <Input
            type="number"
            {...bounds.CronTaskInput.disable_after_failures}
            {...text("disable_after_failures")}
          />
        </Field>
      </div>
    </Fold>
  )
}
