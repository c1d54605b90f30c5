import type { CronTask, CronTaskInput } from "@scheduling/sdk"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CallbackFields } from "../call/CallbackFields.tsx"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import {
  callInputOf,
  type CallValues,
  callValuesOf,
  copyCall,
  newCall
} from "../call/callValues.ts"
import { PasteBox } from "../call/PasteBox.tsx"
import {
  newScheduled,
  scheduledInputOf,
  type ScheduledValues,
  scheduledValuesOf
} from "../schedule/scheduledValues.ts"
import { FiringFields, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { taskFormPages, TaskNameField, TaskQueueField, TaskTagsField } from "../taskFormPages.tsx"
import { cronQueries } from "./cronKind.ts"

type CronValues = CallValues & ScheduledValues

const cronValuesOf = (task: CronTask): CronValues => ({
  ...callValuesOf(task),
  ...scheduledValuesOf(task)
})

const CronFields = ({
  form,
  isBlank
}: {
  readonly form: FormOf<CronValues>
  readonly isBlank: boolean
}) => (
  <>
    {isBlank && <PasteBox hasSchedule onPaste={form.set} />}
    <Section title="Call">
      <Card className="flex flex-col gap-5 p-5">
        <TaskNameField {...form.group} isRequired placeholder="Nightly report" />
        <TaskTagsField {...form.group} />
        <CallFields {...form.group} />
      </Card>
    </Section>
    <Section title="When">
      <Card className="flex flex-col gap-5 p-5">
        <ScheduleFields {...form.group} isRequired />
        <TaskQueueField {...form.group} />
      </Card>
    </Section>
    <Section title="Failures and overlap">
      <Card className="flex flex-col gap-5 p-5">
        <LimitFields {...form.group} />
        <FiringFields {...form.group} />
        <CallOptionFields {...form.group} />
      </Card>
    </Section>
    <CallbackFields {...form.group} />
  </>
)

export const { Edit: EditCronPage, New: NewCronPage } = taskFormPages<
  CronTask,
  CronValues,
  CronTaskInput
>({
  kind: "cron",
  queries: cronQueries,
  resourceOf: ({ cron }) => cron,
  initial: { ...newCall, ...newScheduled },
  valuesOf: cronValuesOf,
  copyOf: (task) => ({ ...copyCall(cronValuesOf(task)), name: `${task.name} (copy)` }),
  inputOf: (values) => ({ ...callInputOf(values), ...scheduledInputOf(values) }),
  Fields: CronFields
})
