import type { DstOverlap, Missed, Overlap } from "@scheduling/sdk"
import { Button } from "../../ui/actions/Button.tsx"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { FiringOptionFields } from "./FiringOptionFields.tsx"
import { type FiringOptionValues, slotQueryOf } from "./firingOptionValues.ts"
import { misses, overlaps } from "./firingWords.ts"
import { SchedulePreview } from "./SchedulePreview.tsx"
import { ZoneInput } from "./ZoneInput.tsx"

/** When something runs, as it is typed. */
export interface FiringValues extends FiringOptionValues {
  readonly schedule: string
  readonly timezone: string
  readonly overlap: Overlap
  readonly missed: Missed
  readonly dst_overlap: DstOverlap
}

interface Props {
  readonly values: FiringValues
  readonly onChange: (change: Partial<FiringValues>) => void
}

const presets = [
  ["*/5 * * * *", "Every 5 minutes"],
  ["0 * * * *", "Hourly"],
  ["0 3 * * *", "Daily at 3"],
  ["0 9 * * 1-5", "Weekdays at 9"],
  ["0 0 1 * *", "Monthly"]
] as const

const scheduleFields = [
  "schedule",
  "timezone",
  "starts_at",
  "ends_at",
  "excluded_days",
  "excluded_calendar"
] as const

/** A schedule, with what it means while it is typed. */
export const ScheduleFields = ({
  errorOf,
  isRequired,
  onChange,
  values
}: Props & {
  readonly isRequired: boolean
  readonly errorOf: (
    field: "schedule" | "timezone" | keyof FiringOptionValues
  ) => string | undefined
}) => (
  <>
    <div className="grid gap-5 sm:grid-cols-2">
      <Field
        label="Schedule"
        hint={
          isRequired
            ? "Minute, hour, day of month, month, day of week."
            : "Leave it empty to run it only by hand."
        }
        error={errorOf("schedule")}
      >
        <Input
          mono
          name="schedule"
          required={isRequired}
          spellCheck={false}
          autoComplete="off"
          placeholder="0 3 * * *"
          value={values.schedule}
          onChange={(event) => onChange({ schedule: event.target.value })}
        />
      </Field>
      <Field label="Time zone" error={errorOf("timezone")}>
        <ZoneInput value={values.timezone} onChange={(timezone) => onChange({ timezone })} />
      </Field>
    </div>
    <div className="flex flex-wrap gap-1.5">
      {presets.map(([schedule, name]) => (
        <Button key={schedule} size="small" onClick={() => onChange({ schedule })}>
          {name}
        </Button>
      ))}
    </div>
    <SchedulePreview
      schedule={values.schedule}
      timezone={values.timezone}
      dstOverlap={values.dst_overlap}
      isRefused={scheduleFields.some((field) => errorOf(field) !== undefined)}
      slots={slotQueryOf(values)}
    />
    {values.schedule.trim() !== "" && (
      <FiringOptionFields values={values} onChange={onChange} errorOf={errorOf} />
    )}
  </>
)

/** What to do when runs and clocks get in each other's way. */
export const FiringFields = ({ onChange, values }: Props) => (
  <>
    <Field
      label="While the run before is unfinished"
      hint="A skipped run is listed among the executions."
    >
      <Select
        options={Object.entries(overlaps)}
        value={values.overlap}
        onChange={(event) => onChange({ overlap: event.target.value as Overlap })}
      />
    </Field>
    <Field label="Runs that were missed while the service was down">
      <Select
        options={Object.entries(misses)}
        value={values.missed}
        onChange={(event) => onChange({ missed: event.target.value as Missed })}
      />
    </Field>
    <Field label="When clocks go back and a time of day comes twice">
      <Select
        options={[
          ["first", "Fire the first time only"],
          ["both", "Fire both times"]
        ]}
        value={values.dst_overlap}
        onChange={(event) => onChange({ dst_overlap: event.target.value as DstOverlap })}
      />
    </Field>
  </>
)
