import type { ChainInput } from "@scheduling/sdk"
import { Plus } from "lucide-react"
import { useState } from "react"
import { Button } from "../../ui/actions/Button.tsx"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { sendInput } from "../../ui/forms/sendInput.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { FiringFields, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { chainInputOf, type ChainValues, newStep, type StepValues } from "./chainValues.ts"
import { TaskForm, type TaskFormProps, TaskNameField, TaskQueueField } from "../TaskForm.tsx"
import { StepFields } from "./StepFields.tsx"

const maxSteps = 50

/** Creates a chain, or changes one. */
export const ChainForm = ({
  action,
  initial,
  latest,
  onCancel,
  onSend
}: TaskFormProps<ChainValues, ChainInput>) => {
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
    <TaskForm form={form} action={action} onCancel={onCancel}>
      <Card className="p-5">
        <TaskNameField form={form} isRequired placeholder="Nightly export" />
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
          <TaskQueueField form={form} />
          {values.schedule.trim() !== "" && <FiringFields values={values} onChange={set} />}
        </Card>
      </Section>
    </TaskForm>
  )
}
