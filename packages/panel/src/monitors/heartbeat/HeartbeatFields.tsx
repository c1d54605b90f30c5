import type { HeartbeatMonitor, HeartbeatMonitorInput } from "@scheduling/sdk"
import { SchedulePreview } from "../../tasks/schedule/SchedulePreview.tsx"
import { ZoneInput } from "../../tasks/schedule/ZoneInput.tsx"
import { Choice, Field, Input } from "../../ui/forms/Field.tsx"
import { readersZone } from "../../ui/values/format.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { SpanInput } from "../../ui/forms/SpanInput.tsx"
import { tagsOf } from "../MonitorFrame.tsx"
import * as bounds from "../../data/bounds.ts"
import type { MonitorForm } from "../monitorPages.tsx"
import { NameFields } from "../NameFields.tsx"

export const newHeartbeat = {
  name: "",
  tags: "",
  by: "schedule" as "period" | "schedule",
  period_seconds: 86_400 as number | null,
  schedule: "",
  timezone: readersZone(),
  grace_seconds: 300 as number | null,
  max_duration_seconds: null as number | null,
  min_interval_seconds: null as number | null
}

export type HeartbeatValues = typeof newHeartbeat

export const heartbeatValuesOf = (monitor: HeartbeatMonitor): HeartbeatValues => ({
  name: monitor.name,
  tags: monitor.tags.join(", "),
  by: monitor.schedule === null ? "period" : "schedule",
  period_seconds: monitor.period_seconds ?? newHeartbeat.period_seconds,
  schedule: monitor.schedule ?? "",
  timezone: monitor.timezone,
  grace_seconds: monitor.grace_seconds,
  max_duration_seconds: monitor.max_duration_seconds,
  min_interval_seconds: monitor.min_interval_seconds
})

export const heartbeatInputOf = (values: HeartbeatValues): HeartbeatMonitorInput => ({
  name: values.name.trim(),
  tags: tagsOf(values.tags),
  grace_seconds: values.grace_seconds ?? 0,
  max_duration_seconds: values.max_duration_seconds,
  min_interval_seconds: values.min_interval_seconds,
  ...(values.by === "schedule"
    ? { schedule: values.schedule.trim(), timezone: values.timezone.trim() }
    : { period_seconds: values.period_seconds ?? 0 })
})

export const HeartbeatFields = ({ form }: { readonly form: MonitorForm<HeartbeatValues> }) => {
  const { errorOf, set, values } = form
  return (
    <>
      <Card className="flex flex-col gap-5 p-5">
        <NameFields form={form} example="Nightly backup" />
      </Card>
      <Section title="When it pings">
        <Card className="flex flex-col gap-5 p-5">
          <Choice
            label="Pings come"
            value={values.by}
            options={[
              ["schedule", "On a schedule"],
              ["period", "Every so often"]
            ]}
            onChange={(by) => set({ by })}
          />
          {values.by === "schedule" ? (
            <>
              <div className="grid gap-5 sm:grid-cols-2">
                <Field
                  label="Schedule"
                  hint="As in the crontab of the job."
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
                  hint="Of the machine that runs it."
                  error={errorOf("timezone")}
                >
                  <ZoneInput value={values.timezone} onChange={(timezone) => set({ timezone })} />
                </Field>
              </div>
              <SchedulePreview
                schedule={values.schedule}
                timezone={values.timezone}
                dstOverlap="both"
                isRefused={(errorOf("schedule") ?? errorOf("timezone")) !== undefined}
              />
            </>
          ) : (
            <Field
              label="A ping every"
              hint="Counts from the latest ping."
              error={errorOf("period_seconds")}
            >
              <SpanInput
                label="A ping every"
                limits={bounds.HeartbeatMonitorInput.period_seconds}
                seconds={values.period_seconds}
                onChange={(period_seconds) => set({ period_seconds })}
              />
            </Field>
          )}
          <Field
            label="Grace"
            hint="How late a ping may be before the monitor goes down."
            error={errorOf("grace_seconds")}
          >
            <SpanInput
              label="Grace"
              limits={bounds.HeartbeatMonitorInput.grace_seconds}
              seconds={values.grace_seconds}
              onChange={(grace_seconds) => set({ grace_seconds })}
            />
          </Field>
        </Card>
      </Section>
      <Section title="How it runs">
        <Card className="flex flex-col gap-5 p-5">
          <Field
            label="A run takes at most"
            hint="From its /start to its end. As long as it likes if empty."
            error={errorOf("max_duration_seconds")}
          >
            <SpanInput
              label="A run takes at most"
              limits={bounds.HeartbeatMonitorInput.max_duration_seconds}
              isOptional
              seconds={values.max_duration_seconds}
              onChange={(max_duration_seconds) => set({ max_duration_seconds })}
            />
          </Field>
          <Field
            label="Two runs begin at least this far apart"
            hint="A run that begins earlier also opens an incident. No limit if empty."
            error={errorOf("min_interval_seconds")}
          >
            <SpanInput
              label="Two runs begin at least this far apart"
              limits={bounds.HeartbeatMonitorInput.min_interval_seconds}
              isOptional
              seconds={values.min_interval_seconds}
              onChange={(min_interval_seconds) => set({ min_interval_seconds })}
            />
          </Field>
        </Card>
      </Section>
    </>
  )
}
