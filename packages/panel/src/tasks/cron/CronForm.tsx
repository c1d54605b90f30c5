import type { CronTask, CronTaskInput, DstOverlap, Missed, Overlap } from "@scheduling/sdk"
import { Field, Input } from "../../ui/Field.tsx"
import { readersZone } from "../../ui/format.ts"
import { Card, Section } from "../../ui/Page.tsx"
import { useForm } from "../../ui/useForm.ts"
import { CallFields, LimitFields } from "../CallFields.tsx"
import { CallOptionFields } from "../CallOptionFields.tsx"
import { callInputOf, callValuesOf, newCall } from "../callValues.ts"
import { firingOptionInputOf, firingOptionValuesOf } from "../firingOptionValues.ts"
import { PasteBox } from "../PasteBox.tsx"
import { FiringFields, ScheduleFields } from "../ScheduleFields.tsx"
import { FormEnd } from "../../ui/FormEnd.tsx"

export const newCron = {
  ...newCall,
  name: "",
  schedule: "",
  timezone: readersZone(),
  overlap: "skip" as Overlap,
  missed: "once" as Missed,
  dst_overlap: "first" as DstOverlap,
  ...firingOptionValuesOf({})
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
  ...firingOptionValuesOf(task)
})

const inputOf = (values: CronValues): CronTaskInput => ({
  ...callInputOf(values),
  name: values.name.trim(),
  schedule: values.schedule.trim(),
  timezone: values.timezone.trim(),
  overlap: values.overlap,
  missed: values.missed,
  dst_overlap: values.dst_overlap,
  ...firingOptionInputOf(values)
})

/** Makes a cron task, or changes one. */
export const CronForm = ({
  action,
  initial,
  onCancel,
  onSend
}: {
  readonly initial: CronValues
  readonly action: string
  readonly onSend: (input: CronTaskInput) => Promise<unknown>
  readonly onCancel: () => void
}) => {
  const form = useForm({ initial, send: (values) => onSend(inputOf(values)) })
  const { errorOf, set, values } = form
  return (
    <form className="flex flex-col gap-8" onSubmit={form.submit}>
      {initial === newCron && <PasteBox onPaste={set} />}
      <Section title="What">
        <Card className="flex flex-col gap-5 p-5">
          <Field label="Name" error={errorOf("name")}>
            <Input {...form.text("name")} required maxLength={200} placeholder="Nightly report" />
          </Field>
          <CallFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <ScheduleFields values={values} onChange={set} errorOf={errorOf} isRequired />
        </Card>
      </Section>
      <Section title="If something goes wrong">
        <Card className="flex flex-col gap-5 p-5">
          <LimitFields values={values} onChange={set} errorOf={errorOf} />
          <FiringFields values={values} onChange={set} />
          <CallOptionFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <FormEnd form={form} action={action} needs="editor" onCancel={onCancel} />
    </form>
  )
}
