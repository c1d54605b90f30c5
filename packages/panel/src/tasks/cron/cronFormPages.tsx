import type { CronTask, CronTaskInput } from "@scheduling/sdk"
import { DependsOnField } from "../../incidents/DependsOn.tsx"
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
  newCallValues
} from "../call/callValues.ts"
import { PasteBox } from "../call/PasteBox.tsx"
import { CallTester } from "../call/CallTester.tsx"
import {
  newScheduledValues,
  scheduledInputOf,
  type ScheduledValues,
  scheduledValuesOf
} from "../schedule/scheduledValues.ts"
import { FiringFields, NextRunsSection, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { LimitsField } from "../../queues/LimitsField.tsx"
import { taskFormPages, TaskNameField, TaskTagsField } from "../taskFormPages.tsx"
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
        <LimitsField {...form.group} />
      </Card>
    </Section>
    <Section title="Failures and overlap">
      <Card className="flex flex-col gap-5 p-5">
        <LimitFields {...form.group} />
        <FiringFields {...form.group} />
        <CallOptionFields {...form.group} />
      </Card>
    </Section>
    <Section title="Dependencies">
      <Card className="p-5">
        <DependsOnField {...form.group} error={form.errorOf("depends_on")} />
      </Card>
    </Section>
    <CallbackFields {...form.group} />
  </>
)

const CronPreview = ({ form }: { readonly form: FormOf<CronValues> }) => (
  <>
    <NextRunsSection {...form.group} />
    <CallTester name={form.values.name} values={form.values} />
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
  initial: { ...newCallValues, ...newScheduledValues },
  valuesOf: cronValuesOf,
  copyOf: (task) => ({ ...copyCall(cronValuesOf(task)), name: `${task.name} (copy)` }),
  inputOf: (values) => ({ ...callInputOf(values), ...scheduledInputOf(values) }),
  Fields: CronFields,
  Preview: CronPreview
})
