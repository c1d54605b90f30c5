import type { NotificationSettings } from "@scheduling/sdk"
import { useRef } from "react"
import { ZoneInput } from "../../tasks/schedule/ZoneInput.tsx"
import { Checkbox, Field, Input } from "../../ui/forms/Field.tsx"
import { FormFooter } from "../../ui/forms/FormFooter.tsx"
import { userTimeZone } from "../../ui/values/format.ts"
import { Card } from "../../ui/layout/Page.tsx"
import { DurationField } from "../../ui/forms/DurationField.tsx"
import { showSuccessToast } from "../../ui/messages/toast.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { useWorkspace } from "../../data/client.ts"
import { refetchNotifications } from "../queries.ts"
import * as bounds from "../../data/bounds.ts"

const valuesOf = ({
  group_seconds,
  quiet_hours,
  remind_every_seconds,
  task_failure_threshold,
  version
}: NotificationSettings) => ({
  version,
  task_failure_threshold: String(task_failure_threshold),
  remind_every_seconds,
  group_seconds: String(group_seconds),
  isQuiet: quiet_hours !== null,
  quiet_hours: quiet_hours ?? { timezone: userTimeZone(), from: "22:00", to: "07:00" }
})

export const TimingForm = ({ settings }: { readonly settings: NotificationSettings }) => {
  const { api, workspaceId } = useWorkspace()
  // The form replaces all settings, but does not show the rules.
  const latest = useRef(settings)
  const form = useForm({
    initial: valuesOf(settings),
    latest: async () => {
      latest.current = await api.notifications.getSettings()
      return valuesOf(latest.current)
    },
    send: async ({ isQuiet, ...values }) => {
      const { rules, version } = latest.current
      await api.notifications.replaceSettings({
        ...values,
        rules,
        version,
        task_failure_threshold: Number(values.task_failure_threshold),
        group_seconds: Number(values.group_seconds),
        quiet_hours: isQuiet ? values.quiet_hours : null
      })
      void refetchNotifications(workspaceId)
      showSuccessToast("The settings were changed")
    }
  })
  const { errorOf, set, values } = form
  const quiet = values.quiet_hours
  return (
    <form className="flex flex-col gap-6" onSubmit={form.submit}>
      <Card className="flex flex-col gap-5 p-5">
        <Field
          label="Consecutive failures before a task is reported"
          error={errorOf("task_failure_threshold")}
        >
          <Input
            {...form.text("task_failure_threshold")}
            type="number"
            {...bounds.NotificationSettingsInput.task_failure_threshold}
            required
          />
        </Field>
        <DurationField
          label="Remind every"
          hint="Repeats a message while the problem continues. Leave empty for no reminders."
          limits={bounds.NotificationSettingsInput.remind_every_seconds}
          isOptional
          {...form.field("remind_every_seconds")}
        />
        <Field
          label="Group messages within (seconds)"
          hint="The first message is sent immediately. Events in the following seconds are sent as one message."
          error={errorOf("group_seconds")}
        >
          <Input
            {...form.text("group_seconds")}
            type="number"
            {...bounds.NotificationSettingsInput.group_seconds}
            required
          />
        </Field>
        <Checkbox
          checked={values.isQuiet}
          hint="Messages are held back and sent as one when the quiet hours end."
          onChange={({ target }) => set({ isQuiet: target.checked })}
        >
          Quiet hours
        </Checkbox>
        {values.isQuiet && (
          <div className="grid grid-cols-2 gap-4 sm:grid-cols-[1fr_1fr_2fr]">
            <Field label="From" error={errorOf("quiet_hours")}>
              <Input
                type="time"
                required
                value={quiet.from}
                onChange={({ target }) => set({ quiet_hours: { ...quiet, from: target.value } })}
              />
            </Field>
            <Field label="Until">
              <Input
                type="time"
                required
                value={quiet.to}
                onChange={({ target }) => set({ quiet_hours: { ...quiet, to: target.value } })}
              />
            </Field>
            <Field label="Time zone">
              <ZoneInput
                value={quiet.timezone}
                onChange={(timezone) => set({ quiet_hours: { ...quiet, timezone } })}
              />
            </Field>
          </div>
        )}
      </Card>
      <FormFooter
        isLong
        form={form}
        action="Save timing"
        isDisabled={!form.isChanged}
        needs="editor"
      />
    </form>
  )
}
