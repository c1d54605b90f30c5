import type { HeartbeatMonitor, HeartbeatMonitorInput } from "@scheduling/sdk"
import { ScheduleInWords } from "../../tasks/schedule/ScheduleInWords.tsx"
import { ZoneInput } from "../../tasks/schedule/ZoneInput.tsx"
import { RadioButtons, Field, Input } from "../../ui/forms/Field.tsx"
import { userTimeZone } from "../../ui/values/format.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { DurationField } from "../../ui/forms/DurationField.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import * as bounds from "../../data/bounds.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { NameAndTagsFields } from "../NameAndTagsFields.tsx"

export const newHeartbeatValues = {
  name: "",
  tags: "",
  by: "schedule" as "period" | "schedule",
  period_seconds: 86_400 as number | null,
  schedule: "",
  timezone: userTimeZone(),
  grace_seconds: 300 as number | null,
  max_duration_seconds: null as number | null,
  min_interval_seconds: null as number | null
}

export type HeartbeatValues = typeof newHeartbeatValues & { readonly version?: number }

export const heartbeatValuesOf = (monitor: HeartbeatMonitor): HeartbeatValues => ({
  version: monitor.version,
  name: monitor.name,
  tags: monitor.tags.join(", "),
  by: monitor.schedule === null ? "period" : "schedule",
  period_seconds: monitor.period_seconds ?? newHeartbeatValues.period_seconds,
  schedule: monitor.schedule ?? "",
  timezone: monitor.timezone ?? newHeartbeatValues.timezone,
  grace_seconds: monitor.grace_seconds,
  max_duration_seconds: monitor.max_duration_seconds,
  min_interval_seconds: monitor.min_interval_seconds
})

export const heartbeatInputOf = (values: HeartbeatValues): HeartbeatMonitorInput => ({
  name: values.name.trim(),
  tags: parseTags(values.tags),
  grace_seconds: values.grace_seconds ?? 0,
  max_duration_seconds: values.max_duration_seconds,
  min_interval_seconds: values.min_interval_seconds,
  ...(values.by === "schedule"
    ? { schedule: values.schedule.trim(), timezone: values.timezone.trim() }
    : { period_seconds: values.period_seconds ?? 0 })
})

export const HeartbeatFields = ({ form }: { readonly form: FormOf<HeartbeatValues> }) => {
  const { errorOf, values } = form
  return (
    <>
      <Card className="flex flex-col gap-5 p-5">
        <NameAndTagsFields form={form} example="Nightly backup" />
      </Card>
      <Section title="Expected pings">
        <Card className="flex flex-col gap-5 p-5">
          <RadioButtons
            label="Expected pings"
            options={[
              ["schedule", "On a schedule"],
              ["period", "At an interval"]
            ]}
            {...form.field("by")}
          />
          {values.by === "schedule" ? (
            <>
              <div className="grid gap-5 sm:grid-cols-2">
                <Field
                  label="Schedule"
                  hint="The schedule of the job, as in its crontab."
                  error={errorOf("schedule")}
                >
                  <Input
                    {...form.text("schedule")}
                    mono
                    required
                    spellCheck={false}
                    autoComplete="off"
                    placeholder="0 3 * * *"
                  />
                </Field>
                <Field
                  label="Time zone"
                  hint="The time zone of the machine that runs the job."
                  error={errorOf("timezone")}
                >
                  <ZoneInput {...form.field("timezone")} />
                </Field>
              </div>
              <ScheduleInWords schedule={values.schedule} timezone={values.timezone} />
            </>
          ) : (
            <DurationField
              label="Ping interval"
              hint="The longest time between two pings."
              limits={bounds.HeartbeatMonitorInput.period_seconds}
              {...form.field("period_seconds")}
            />
          )}
          <DurationField
            label="Grace period"
            hint="How late a ping can be before the monitor goes down."
            limits={bounds.HeartbeatMonitorInput.grace_seconds}
            {...form.field("grace_seconds")}
          />
        </Card>
      </Section>
      <Section title="Runs">
        <Card className="flex flex-col gap-5 p-5">
          <DurationField
            label="Maximum duration"
            hint="The time between the ping to /start and the next ping. Leave empty for no limit."
            limits={bounds.HeartbeatMonitorInput.max_duration_seconds}
            isOptional
            {...form.field("max_duration_seconds")}
          />
          <DurationField
            label="Minimum time between two runs"
            hint="A run that starts earlier opens an incident. Leave empty for no limit."
            limits={bounds.HeartbeatMonitorInput.min_interval_seconds}
            isOptional
            {...form.field("min_interval_seconds")}
          />
        </Card>
      </Section>
    </>
  )
}
