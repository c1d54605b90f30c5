import type { DelayedTask, DelayedTaskInput } from "@scheduling/sdk"
import * as bounds from "../../data/bounds.ts"
import { now } from "../../ui/values/clock.ts"
import { Choice, Field, Input, Select } from "../../ui/forms/Field.tsx"
import { dateTime, readersZone } from "../../ui/values/format.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { sendInput } from "../../ui/forms/sendInput.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { callbackInputOf, callbackValuesOf } from "../call/callbackValues.ts"
import { CallFields, LimitFields } from "../call/CallFields.tsx"
import { CallOptionFields } from "../call/CallOptionFields.tsx"
import { PasteBox } from "../call/PasteBox.tsx"
import { localTime } from "../schedule/localTime.ts"
import {
  newTask,
  TaskForm,
  type TaskFormProps,
  TaskNameField,
  TaskQueueField
} from "../TaskForm.tsx"
import { callInputOf, callValuesOf, newCall } from "../call/callValues.ts"

const units = { "60": "minutes", "3600": "hours", "86400": "days" }

export const newDelayed = {
  ...newCall,
  ...newTask,
  when: "after" as "after" | "at",
  amount: "10",
  unit: "60",
  run_at: ""
}

export type DelayedValues = typeof newDelayed

/** The same call, once more after a while: the time of the original may be over. */
export const delayedCopyOf = (task: DelayedTask): DelayedValues => ({
  ...newDelayed,
  ...callValuesOf(task),
  name: task.name ?? "",
  queue_id: task.queue_id,
  ...callbackValuesOf(task)
})

export const delayedValuesOf = (task: DelayedTask): DelayedValues => ({
  ...delayedCopyOf(task),
  when: "at",
  run_at: localTime(task.run_at)
})

const inputOf = (values: DelayedValues): DelayedTaskInput => ({
  ...callInputOf(values),
  name: values.name.trim() === "" ? null : values.name.trim(),
  queue_id: values.queue_id,
  ...callbackInputOf(values),
  ...(values.when === "after"
    ? { delay_seconds: Number(values.amount) * Number(values.unit) }
    : { run_at: new Date(values.run_at).toISOString() })
})

/** Of a time as it is typed, or a part of one. */
const isOver = (runAt: string) => new Date(runAt).getTime() < now()

/** Creates a delayed task, or changes one. */
export const DelayedForm = ({
  action,
  initial,
  latest,
  onCancel,
  onSend
}: TaskFormProps<DelayedValues, DelayedTaskInput>) => {
  const form = useForm({ initial, latest, send: sendInput(inputOf, onSend) })
  const { errorOf, set, values } = form
  const isAfter = values.when === "after"
  return (
    <TaskForm form={form} action={action} onCancel={onCancel}>
      {initial === newDelayed && <PasteBox onPaste={set} />}
      <Section title="What">
        <Card className="flex flex-col gap-5 p-5">
          <TaskNameField form={form} isRequired={false} placeholder="Remind Ada" />
          <CallFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <div>
            <Choice
              label="When"
              value={values.when}
              options={[
                ["after", "After a delay"],
                ["at", "At a time"]
              ]}
              onChange={(when) => set({ when })}
            />
          </div>
          {isAfter ? (
            <Field
              label="Delay"
              hint={`That is ${dateTime(now() + Number(values.amount) * Number(values.unit) * 1_000)}.`}
              error={errorOf("run_at")}
            >
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
                  id={undefined}
                  aria-label="Unit of the delay"
                  options={Object.entries(units)}
                  value={values.unit}
                  onChange={(event) => set({ unit: event.target.value })}
                />
              </div>
            </Field>
          ) : (
            <Field
              label="Time"
              hint={
                isOver(values.run_at)
                  ? "This time has passed: the call goes out at once."
                  : `In ${readersZone()}.`
              }
              error={errorOf("run_at")}
            >
              <Input {...form.text("run_at")} type="datetime-local" step={1} required />
            </Field>
          )}
          <TaskQueueField form={form} />
        </Card>
      </Section>
      <Section title="If something goes wrong">
        <Card className="flex flex-col gap-5 p-5">
          <LimitFields values={values} onChange={set} errorOf={errorOf} />
          <CallOptionFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
    </TaskForm>
  )
}
