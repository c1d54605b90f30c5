import type { Chain, ChainInput } from "@scheduling/sdk"
import { Plus } from "lucide-react"
import { useState } from "react"
import { Button } from "../../ui/actions/Button.tsx"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CallbackFields } from "../call/CallbackFields.tsx"
import { copyCall } from "../call/callValues.ts"
import { hasTiming } from "../schedule/scheduledValues.ts"
import { FiringFields, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { taskFormPages, TaskNameField, TaskQueueField, TaskTagsField } from "../taskFormPages.tsx"
import { chainQueries } from "./chainKind.ts"
import { chainInputOf, type ChainValues, chainValuesOf, newChain, newStep } from "./chainValues.ts"
import { StepFields } from "./StepFields.tsx"

const maxSteps = 50

const ChainFields = ({ form }: { readonly form: FormOf<ChainValues> }) => {
  const { errorAt, group, set, values } = form
  const { steps } = values
  const [added, setAdded] = useState<number>()
  return (
    <>
      <Card className="p-5">
        <TaskNameField {...group} isRequired placeholder="Nightly export" />
        <TaskTagsField {...form.group} />
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
              errorOf={(...at) => errorAt("steps", index, ...at)}
              onChange={(fields) => set({ steps: steps.with(index, { ...step, ...fields }) })}
              onMove={(by) =>
                set({ steps: steps.toSpliced(index, 1).toSpliced(index + by, 0, step) })
              }
              onRemove={
                steps.length === 1 ? undefined : () => set({ steps: steps.toSpliced(index, 1) })
              }
            />
          ))}
          <div>
            <Button
              icon={<Plus />}
              disabled={steps.length >= maxSteps}
              onClick={() => {
                const step = newStep(`step${steps.length + 1}`)
                setAdded(step.key)
                set({ steps: [...steps, step] })
              }}
            >
              Add a step
            </Button>
          </div>
        </div>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <ScheduleFields {...group} isRequired={false} />
          <TaskQueueField {...group} />
          {hasTiming(values) && <FiringFields {...group} />}
        </Card>
      </Section>
      <CallbackFields {...group} />
    </>
  )
}

export const { Edit: EditChainPage, New: NewChainPage } = taskFormPages<
  Chain,
  ChainValues,
  ChainInput
>({
  kind: "chain",
  queries: chainQueries,
  resourceOf: ({ chains }) => chains,
  initial: newChain,
  valuesOf: chainValuesOf,
  copyOf: (chain) => {
    const values = chainValuesOf(chain)
    return { ...values, name: `${chain.name} (copy)`, steps: values.steps.map(copyCall) }
  },
  inputOf: chainInputOf,
  Fields: ChainFields
})
