import type { DelayedTask, DelayedTaskInput } from "@scheduling/sdk"
import { now } from "../../ui/clock.ts"
import { Choice, Field, Input, Select } from "../../ui/Field.tsx"
import { dateTime, readersZone } from "../../ui/format.ts"
import { Card, Section } from "../../ui/Page.tsx"
import { useForm } from "../../ui/useForm.ts"
import { CallFields, LimitFields } from "../CallFields.tsx"
import { CallOptionFields } from "../CallOptionFields.tsx"
import { localTime } from "../localTime.ts"
import { callInputOf, callValuesOf, newCall } from "../callValues.ts"
import { FormEnd } from "../../ui/FormEnd.tsx"

const units = { "60": "minutes", "3600": "hours", "86400": "days" }

export const newDelayed = {
  ...newCall,
  name: "",
  when: "after" as "after" | "at",
  amount: "10",
  unit: "60",
  run_at: ""
}

export type DelayedValues = typeof newDelayed

export const delayedValuesOf = (task: DelayedTask): DelayedValues => ({
  ...newDelayed,
  ...callValuesOf(task),
  name: task.name ?? "",
  when: "at",
  run_at: localTime(task.run_at)
})

/** The same call, once more after a while: the time of the original may be over. */
export const delayedCopyOf = (task: DelayedTask): DelayedValues => ({
  ...newDelayed,
  ...callValuesOf(task),
  name: task.name ?? ""
})

const inputOf = (values: DelayedValues): DelayedTaskInput => ({
  ...callInputOf(values),
  name: values.name.trim() === "" ? null : values.name.trim(),
  ...(values.when === "after"
    ? { delay_seconds: Number(values.amount) * Number(values.unit) }
    : { run_at: new Date(values.run_at).toISOString() })
})

/** Makes a delayed task, or changes one. */
export const DelayedForm = ({
  action,
  initial,
  onCancel,
  onSend
}: {
  readonly initial: DelayedValues
  readonly action: string
  readonly onSend: (input: DelayedTaskInput) => Promise<unknown>
  readonly onCancel: () => void
}) => {
  const form = useForm({ initial, send: (values) => onSend(inputOf(values)) })
  const { errorOf, set, values } = form
  const isAfter = values.when === "after"
  return (
    <form className="flex flex-col gap-8" onSubmit={form.submit}>
      <Section title="What">
        <Card className="flex flex-col gap-5 p-5">
          <Field label="Name" hint="Optional." error={errorOf("name")}>
            <Input {...form.text("name")} maxLength={200} placeholder="Remind Ada" />
          </Field>
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
                ["after", "After a while"],
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
                  min={0}
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
            <Field label="Time" hint={`In ${readersZone()}.`} error={errorOf("run_at")}>
              <Input {...form.text("run_at")} type="datetime-local" step={1} required />
            </Field>
          )}
        </Card>
      </Section>
      <Section title="If something goes wrong">
        <Card className="flex flex-col gap-5 p-5">
          <LimitFields values={values} onChange={set} errorOf={errorOf} />
          <CallOptionFields values={values} onChange={set} errorOf={errorOf} />
        </Card>
      </Section>
      <FormEnd form={form} action={action} needs="editor" onCancel={onCancel} />
    </form>
  )
}
