import type { ChainInput } from "@scheduling/sdk"
import { Plus } from "lucide-react"
import { useState } from "react"
import { Button } from "../../ui/actions/Button.tsx"
import { QueueField } from "../../queues/QueueField.tsx"
import { Field, Input } from "../../ui/forms/Field.tsx"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { type SendInput, sendInput } from "../../ui/forms/sendInput.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { CallbackFields } from "../call/CallbackFields.tsx"
import { FiringFields, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { chainInputOf, type ChainValues, newStep, type StepValues } from "./chainValues.ts"
import { StepFields } from "./StepFields.tsx"
import { FormEnd } from "../../ui/forms/FormEnd.tsx"
import * as bounds from "../../data/bounds.ts"

const maxSteps = 50

/** Makes a chain, or changes one. */
export const ChainForm = ({
  action,
  initial,
  latest,
  onCancel,
  onSend
}: {
  readonly initial: ChainValues
  readonly action: string
  readonly latest?: () => Promise<ChainValues>
  readonly onSend: SendInput<ChainInput>
  readonly onCancel: () => void
}) => {
  const form = useForm({ initial, latest, send: sendInput(chainInputOf, onSend) })
  const { errorAt, errorOf, set, values } = form
  const { steps } = values
  const [added, setAdded] = useState<number>()

  const addStep = () => {
    const step = newStep(`step${steps.length + 1}`)
    setAdded(step.key)
    set({ steps: [...steps, step] })
  }

  const change = (at: number, fields: Partial<StepValues>) =>
    set({ steps: steps.map((step, index) => (index === at ? { ...step, ...fields } : step)) })

  const move = (at: number, by: -1 | 1) => {
    const step = steps[at]
    if (step === undefined) return
    set({ steps: steps.toSpliced(at, 1).toSpliced(at + by, 0, step) })
  }

  return (
    <form className="flex flex-col gap-8" onSubmit={form.submit}>
      <Card className="p-5">
        <Field label="Name" error={errorOf("name")}>
          <Input
            {...form.text("name")}
            required
            autoFocus
            {...bounds.ChainInput.name}
            placeholder="Nightly export"
          />
        </Field>
      </Card>
      <Section title="Steps">
        <div className="flex flex-col gap-3">
          {steps.map((step, index) => (
            <StepFields
              key={step.key}
              step={step}
              index={index}
              isAdded={step.key === added}
              isLast={index === steps.length - 1}
              before={steps.slice(0, index)}
              errorOf={(field) => errorAt("steps", index, field)}
              onChange={(fields) => change(index, fields)}
              onMove={(by) => move(index, by)}
              onRemove={
                steps.length === 1 ? undefined : () => set({ steps: steps.toSpliced(index, 1) })
              }
            />
          ))}
          <div>
            <Button
              icon={<Plus className="size-4" />}
              disabled={steps.length >= maxSteps}
              onClick={addStep}
            >
              Add a step
            </Button>
          </div>
        </div>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <ScheduleFields values={values} onChange={set} errorOf={errorOf} isRequired={false} />
          <QueueField
            value={values.queue_id}
            onChange={(queue_id) => set({ queue_id })}
            error={errorOf("queue_id")}
          />
          {values.schedule.trim() !== "" && <FiringFields values={values} onChange={set} />}
        </Card>
      </Section>
      <CallbackFields values={values} onChange={set} errorOf={errorOf} />
      <FormEnd isLong form={form} action={action} needs="editor" onCancel={onCancel} />
    </form>
  )
}
