import { Button } from "../../ui/actions/Button.tsx"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { Section } from "../../ui/layout/Page.tsx"
import { FiringOptionFields } from "./FiringOptionFields.tsx"
import { previewQueryOf } from "./firingOptionValues.ts"
import { missedSlotLabels, overlapLabels } from "./firingLabels.ts"
import { userTimeZone } from "../../ui/values/format.ts"
import { hasTiming, type ScheduledValues, timingOf } from "./scheduledValues.ts"
import { SchedulePreview } from "./SchedulePreview.tsx"
import { ScheduleInWords } from "./ScheduleInWords.tsx"
import { ZoneInput } from "./ZoneInput.tsx"

const presets = [
  ["*/5 * * * *", "Every 5 minutes"],
  ["0 * * * *", "Hourly"],
  ["0 3 * * *", "Daily at 3"],
  ["0 9 * * 1-5", "Weekdays at 9"],
  ["0 0 1 * *", "Monthly"]
] as const

const previewedFields = [
  "schedule",
  "every",
  "anchor",
  "timezone",
  "starts_at",
  "ends_at",
  "excluded_days",
  "excluded_calendar"
] as const

export const ScheduleFields = ({
  errorOf,
  isRequired,
  onChange,
  values
}: FieldGroupProps<ScheduledValues> & { readonly isRequired: boolean }) => {
  const group = { errorOf, onChange, values }
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Repeat">
          <Select
            options={[
              ["by schedule", "On a schedule"],
              ["at an interval", "At an interval"]
            ]}
            {...inputPropsOf(values, onChange)("repeats")}
          />
        </Field>
        <Field label="Time zone" error={errorOf("timezone")}>
          <ZoneInput value={values.timezone} onChange={(timezone) => onChange({ timezone })} />
        </Field>
      </div>
      {values.repeats === "by schedule" ? (
        <ExpressionField {...group} isRequired={isRequired} />
      ) : (
        <IntervalFields {...group} isRequired={isRequired} />
      )}
      {hasTiming(values) && <FiringOptionFields {...group} />}
    </>
  )
}

const NextRunsPreview = ({
  errorOf,
  values
}: Pick<FieldGroupProps<ScheduledValues>, "errorOf" | "values">) => {
  const { anchor, every, schedule } = timingOf(values)
  return (
    <SchedulePreview
      schedule={every === null ? (schedule ?? "") : { every, anchor }}
      timezone={values.timezone}
      dstOverlap={values.dst_overlap}
      isRejected={previewedFields.some((field) => errorOf(field) !== undefined)}
      slots={previewQueryOf(values)}
    />
  )
}

export const NextRunsSection = (group: Parameters<typeof NextRunsPreview>[0]) => (
  <Section title="Next runs">
    {hasTiming(group.values) ? (
      <NextRunsPreview {...group} />
    ) : (
      <p className="text-sm text-faint">Enter a schedule to see the next runs.</p>
    )}
  </Section>
)

const ExpressionField = ({
  errorOf,
  isRequired,
  onChange,
  values
}: FieldGroupProps<ScheduledValues> & { readonly isRequired: boolean }) => (
  <>
    <Field
      label="Schedule"
      hint={
        isRequired
          ? "Minute, hour, day of month, month, day of week."
          : "Leave empty to run the chain only manually."
      }
      error={errorOf("schedule")}
    >
      <Input
        {...inputPropsOf(values, onChange)("schedule")}
        mono
        required={isRequired}
        spellCheck={false}
        autoComplete="off"
        placeholder="0 3 * * *"
      />
    </Field>
    <div className="flex flex-wrap gap-1.5">
      {presets.map(([schedule, name]) => (
        <Button key={schedule} size="small" onClick={() => onChange({ schedule })}>
          {name}
        </Button>
      ))}
    </div>
    <ScheduleInWords schedule={values.schedule} timezone={values.timezone} />
  </>
)

const IntervalFields = ({
  errorOf,
  isRequired,
  onChange,
  values
}: FieldGroupProps<ScheduledValues> & { readonly isRequired: boolean }) => (
  <div className="grid gap-5 sm:grid-cols-2">
    <Field label="Interval" hint="Such as 45s, 90m, 1h30m or 2d." error={errorOf("every")}>
      <Input
        {...inputPropsOf(values, onChange)("every")}
        mono
        required={isRequired}
        spellCheck={false}
        autoComplete="off"
        placeholder="90m"
      />
    </Field>
    <Field
      label="Counted from"
      hint={`A time at which the task fires, in the time zone ${userTimeZone()}.`}
      error={errorOf("anchor")}
    >
      <Input type="datetime-local" step={1} {...inputPropsOf(values, onChange)("anchor")} />
    </Field>
  </div>
)

export const FiringFields = ({ onChange, values }: FieldGroupProps<ScheduledValues>) => {
  const text = inputPropsOf(values, onChange)
  return (
    <>
      <Field label="Overlap" hint="Applies when a run is due while the previous one is unfinished.">
        <Select options={Object.entries(overlapLabels)} {...text("overlap")} />
      </Field>
      <Field label="Missed runs" hint="Runs that were due while the service was down.">
        <Select options={Object.entries(missedSlotLabels)} {...text("missed")} />
      </Field>
      <Field label="When clocks go back" hint="Some local times then occur twice.">
        <Select
          options={[
            ["first", "Run the first time only"],
            ["both", "Run both times"]
          ]}
          {...text("dst_overlap")}
        />
      </Field>
    </>
  )
}
