import type { DelayedTask, DelayedTaskInput } from "@scheduling/sdk"
import * as bounds from "../../data/bounds.ts"
import { LimitsField } from "../../queues/LimitsField.tsx"
import { limitInputOf, limitValuesOf } from "../../queues/limitValues.ts"
import { RadioButtons, Field, Input, Select } from "../../ui/forms/Field.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { now } from "../../ui/values/clock.ts"
import { formatDateTime, userTimeZone } from "../../ui/values/format.ts"
import { callbackInputOf, callbackValuesOf } from "../call/callbackValues.ts"
import { CallbackFields } from "../call/CallbackFields.tsx"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { callInputOf, callValuesOf, copyCall, newCallValues } from "../call/callValues.ts"
import { PasteBox } from "../call/PasteBox.tsx"
import { CallTester } from "../call/CallTester.tsx"
import { dateTimeInputOf } from "../schedule/firingOptionValues.ts"
import { newTaskValues, taskFormPages, TaskNameField, TaskTagsField } from "../taskFormPages.tsx"
import { delayedQueries } from "./delayedQueries.ts"

const units = { "60": "minutes", "3600": "hours", "86400": "days" }

const newDelayed = {
  ...newCallValues,
  ...newTaskValues,
  when: "after" as "after" | "at",
  amount: "10",
  unit: "60",
  run_at: ""
}

type DelayedValues = typeof newDelayed

/** Returns the form values for a copy. The time is left out, because it may be in the past. */
const delayedValuesOf = (task: DelayedTask): DelayedValues => ({
  ...newDelayed,
  ...callValuesOf(task),
  name: task.name ?? "",
  tags: task.tags.join(", "),
  ...limitValuesOf(task),
  ...callbackValuesOf(task)
})

const inputOf = (values: DelayedValues): DelayedTaskInput => ({
  ...callInputOf(values),
  name: values.name.trim() || null,
  tags: parseTags(values.tags),
  ...limitInputOf(values),
  ...callbackInputOf(values),
  ...(values.when === "after"
    ? { delay_seconds: Number(values.amount) * Number(values.unit) }
    : { run_at: new Date(values.run_at).toISOString() })
})

const hasPassed = (runAt: string) => new Date(runAt).getTime() < now()

const DelayedFields = ({
  form,
  isBlank
}: {
  readonly form: FormOf<DelayedValues>
  readonly isBlank: boolean
}) => (
  <>
    {isBlank && <PasteBox onPaste={form.set} />}
    <Section title="Call">
      <Card className="flex flex-col gap-5 p-5">
        <TaskNameField {...form.group} isRequired={false} placeholder="Remind Ada" />
        <TaskTagsField {...form.group} />
        <CallFields {...form.group} />
      </Card>
    </Section>
    <Section title="When">
      <Card className="flex flex-col gap-5 p-5">
        <RadioButtons
          label="When"
          options={[
            ["after", "After a delay"],
            ["at", "At a time"]
          ]}
          {...form.field("when")}
        />
        <TimeField form={form} />
        <LimitsField {...form.group} />
      </Card>
    </Section>
    <Section title="Failures">
      <Card className="flex flex-col gap-5 p-5">
        <LimitFields {...form.group} />
        <CallOptionFields {...form.group} />
      </Card>
    </Section>
    <CallbackFields {...form.group} />
  </>
)

const DelayedPreview = ({ form: { values } }: { readonly form: FormOf<DelayedValues> }) => {
  const at =
    values.when === "at"
      ? Date.parse(values.run_at)
      : now() + Number(values.amount) * Number(values.unit) * 1_000
  return (
    <>
      <Section title="Run">
        <Card className="px-3.5 py-3">
          {Number.isNaN(at) ? (
            <p className="text-sm text-faint">Choose a time to see when the call will run.</p>
          ) : (
            <p className="nums">{formatDateTime(at)}</p>
          )}
        </Card>
      </Section>
      <CallTester name={values.name} values={values} />
    </>
  )
}

const TimeField = ({ form }: { readonly form: FormOf<DelayedValues> }) => {
  const { amount, run_at, unit, when } = form.values
  const error = form.errorOf("run_at")
  if (when === "at") {
    const hint = hasPassed(run_at)
      ? "This time has passed. The call will start immediately."
      : `In the time zone ${userTimeZone()}.`
    return (
      <Field label="Time" hint={hint} error={error}>
        <Input {...form.text("run_at")} type="datetime-local" step={1} required />
      </Field>
    )
  }
  const dueAt = now() + Number(amount) * Number(unit) * 1_000
  return (
    <Field label="Delay" hint={`The call will start on ${formatDateTime(dueAt)}.`} error={error}>
      <div className="flex gap-2">
        <Input
          {...form.text("amount")}
          type="number"
          min={bounds.DelayedTaskInput.delay_seconds.min}
          step="any"
          required
          className="max-w-32"
        />
        <Select
          {...form.text("unit")}
          id={undefined}
          aria-label="Unit of the delay"
          options={Object.entries(units)}
        />
      </div>
    </Field>
  )
}

export const { Edit: EditDelayedPage, New: NewDelayedPage } = taskFormPages<
  DelayedTask,
  DelayedValues,
  DelayedTaskInput
>({
  kind: "delayed",
  queries: delayedQueries,
  resourceOf: ({ delayed }) => delayed,
  initial: newDelayed,
  valuesOf: (task) => ({
    ...delayedValuesOf(task),
    version: task.version,
    when: "at",
    run_at: dateTimeInputOf(task.run_at)
  }),
  copyOf: (task) => copyCall(delayedValuesOf(task)),
  inputOf,
  Fields: DelayedFields,
  Preview: DelayedPreview
})
