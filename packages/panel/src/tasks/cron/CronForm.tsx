import type { CronTask, CronTaskInput } from "@scheduling/sdk"
import { sendInput } from "../../ui/forms/sendInput.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { callInputOf, type CallValues, callValuesOf, newCall } from "../call/callValues.ts"
import { PasteBox } from "../call/PasteBox.tsx"
import {
  newScheduled,
  scheduledInputOf,
  type ScheduledValues,
  scheduledValuesOf
} from "../schedule/scheduledValues.ts"
import { FiringFields, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { TaskForm, type TaskFormProps, TaskNameField, TaskQueueField } from "../TaskForm.tsx"

type CronValues = CallValues & ScheduledValues

export const newCron: CronValues = { ...newCall, ...newScheduled }

export const cronValuesOf = (task: CronTask): CronValues => ({
  ...callValuesOf(task),
  ...scheduledValuesOf(task)
})

const inputOf = (values: CronValues): CronTaskInput => ({
  ...callInputOf(values),
  ...scheduledInputOf(values),
  schedule: values.schedule.trim()
})

/** Creates a cron task, or changes one. */
export const CronForm = ({
  action,
  initial,
  latest,
  onCancel,
  onSend
}: TaskFormProps<CronValues, CronTaskInput>) => {
  const form = useForm({ initial, latest, send: sendInput(inputOf, onSend) })
  const { errorOf, set, values } = form
  return (
    <TaskForm form={form} action={action} onCancel={onCancel}>
      {initial === newCron && <PasteBox hasSchedule onPaste={set} />}
      <Section title="What">
        <Card className="flex flex-col gap-5 p-5">
          <TaskNameField form={form} isRequired placeholder="Nightly report" />
          <CallFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <ScheduleFields values={values} onChange={set} errorOf={errorOf} isRequired />
          <TaskQueueField form={form} />
        </Card>
      </Section>
      <Section title="If something goes wrong">
        <Card className="flex flex-col gap-5 p-5">
          <LimitFields values={values} onChange={set} errorOf={errorOf} />
          <FiringFields values={values} onChange={set} />
          <CallOptionFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
    </TaskForm>
  )
}
