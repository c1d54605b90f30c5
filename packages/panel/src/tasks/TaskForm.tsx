import type { QueueId } from "@scheduling/sdk"
import type { ComponentProps, ReactNode } from "react"
import * as bounds from "../data/bounds.ts"
import { QueueField } from "../queues/QueueField.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import type { SendInput } from "../ui/forms/sendInput.ts"
import { CallbackFields } from "./call/CallbackFields.tsx"
import { type CallbackValues, callbackValuesOf } from "./call/callbackValues.ts"

/** What every task has, as it is typed. */
export interface TaskValues extends CallbackValues {
  readonly name: string
  readonly queue_id: QueueId | null
}

export const newTask: TaskValues = { name: "", queue_id: null, ...callbackValuesOf({}) }

export interface TaskFormProps<Values, Input> {
  readonly initial: Values
  readonly action: string
  /**
   * Reads the task's current values, so that a form for changes can show what somebody else
   * changed.
   */
  readonly latest?: () => Promise<Values>
  readonly onSend: SendInput<Input>
  readonly onCancel: () => void
}

type Form = ComponentProps<typeof FormEnd>["form"] & {
  readonly values: TaskValues
  readonly set: (change: Partial<TaskValues>) => void
  readonly errorOf: (field: keyof TaskValues) => string | undefined
  readonly submit: ComponentProps<"form">["onSubmit"]
}

/** The frame of the form of a task. */
export const TaskForm = ({
  action,
  children,
  form,
  onCancel
}: {
  readonly form: Form
  readonly action: string
  readonly onCancel: () => void
  readonly children: ReactNode
}) => (
  <form className="flex flex-col gap-8" onSubmit={form.submit}>
    {children}
    <CallbackFields values={form.values} onChange={form.set} errorOf={form.errorOf} />
    <FormEnd isLong form={form} action={action} needs="editor" onCancel={onCancel} />
  </form>
)

export const TaskNameField = ({
  form: { errorOf, set, values },
  isRequired,
  placeholder
}: {
  readonly form: Form
  readonly isRequired: boolean
  readonly placeholder: string
}) => (
  <Field label="Name" hint={isRequired ? undefined : "Optional."} error={errorOf("name")}>
    <Input
      name="name"
      value={values.name}
      onChange={({ target }) => set({ name: target.value })}
      required={isRequired}
      autoFocus
      {...bounds.CronTaskInput.name}
      placeholder={placeholder}
    />
  </Field>
)

export const TaskQueueField = ({ form: { errorOf, set, values } }: { readonly form: Form }) => (
  <QueueField
    value={values.queue_id}
    onChange={(queue_id) => set({ queue_id })}
    error={errorOf("queue_id")}
  />
)
