import type { CronTask, CronTaskInput, DstOverlap, Missed, Overlap, QueueId } from "@scheduling/sdk"
import { QueueField } from "../../queues/QueueField.tsx"
import { Field, Input } from "../../ui/forms/Field.tsx"
import { readersZone } from "../../ui/values/format.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { type SendInput, sendInput } from "../../ui/forms/sendInput.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { CallbackFields } from "../call/CallbackFields.tsx"
import { callbackInputOf, callbackValuesOf } from "../call/callbackValues.ts"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { callInputOf, callValuesOf, newCall } from "../call/callValues.ts"
import { firingOptionInputOf, firingOptionValuesOf } from "../schedule/firingOptionValues.ts"
import { PasteBox } from "../call/PasteBox.tsx"
import { FiringFields, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { FormEnd } from "../../ui/forms/FormEnd.tsx"
import * as bounds from "../../data/bounds.ts"

export const newCron = {
  ...newCall,
  name: "",
  schedule: "",
  timezone: readersZone(),
  overlap: "skip" as Overlap,
  missed: "once" as Missed,
  dst_overlap: "first" as DstOverlap,
  queue_id: null as QueueId | null,
  ...firingOptionValuesOf({}),
  ...callbackValuesOf({})
}

export type CronValues = typeof newCron

export const cronValuesOf = (task: CronTask): CronValues => ({
  ...callValuesOf(task),
  name: task.name,
  schedule: task.schedule,
  timezone: task.timezone,
  overlap: task.overlap,
  missed: task.missed,
  dst_overlap: task.dst_overlap,
  queue_id: task.queue_id,
  ...firingOptionValuesOf(task),
  ...callbackValuesOf(task)
})

const inputOf = (values: CronValues): CronTaskInput => ({
  ...callInputOf(values),
  name: values.name.trim(),
  schedule: values.schedule.trim(),
  timezone: values.timezone.trim(),
  overlap: values.overlap,
  missed: values.missed,
  dst_overlap: values.dst_overlap,
  queue_id: values.queue_id,
  ...firingOptionInputOf(values),
  ...callbackInputOf(values)
})

/** Makes a cron task, or changes one. */
export const CronForm = ({
  action,
  initial,
  latest,
  onCancel,
  onSend
}: {
  readonly initial: CronValues
  readonly action: string
  readonly latest?: () => Promise<CronValues>
  readonly onSend: SendInput<CronTaskInput>
  readonly onCancel: () => void
}) => {
  const form = useForm({ initial, latest, send: sendInput(inputOf, onSend) })
  const { errorOf, set, values } = form
  return (
    <form className="flex flex-col gap-8" onSubmit={form.submit}>
      {initial === newCron && <PasteBox hasSchedule onPaste={set} />}
      <Section title="What">
        <Card className="flex flex-col gap-5 p-5">
          <Field label="Name" error={errorOf("name")}>
            <Input
              {...form.text("name")}
              required
              autoFocus
              {...bounds.CronTaskInput.name}
              placeholder="Nightly report"
            />
          </Field>
          <CallFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <ScheduleFields values={values} onChange={set} errorOf={errorOf} isRequired />
          <QueueField
            value={values.queue_id}
            onChange={(queue_id) => set({ queue_id })}
            error={errorOf("queue_id")}
          />
        </Card>
      </Section>
      <Section title="If something goes wrong">
        <Card className="flex flex-col gap-5 p-5">
          <LimitFields values={values} onChange={set} errorOf={errorOf} />
          <FiringFields values={values} onChange={set} />
          <CallOptionFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <CallbackFields values={values} onChange={set} errorOf={errorOf} />
      <FormEnd isLong form={form} action={action} needs="editor" onCancel={onCancel} />
    </form>
  )
}
