import type { Chain, ChainInput } from "@scheduling/sdk"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { useMemo, useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { DependsOnField } from "../../incidents/DependsOn.tsx"
import { Button } from "../../ui/actions/Button.tsx"
import { focusField } from "../../ui/forms/invalidFields.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CallbackFields } from "../call/CallbackFields.tsx"
import { copyCall } from "../call/callValues.ts"
import { StepResponses } from "../call/stepResponses.ts"
import { hasTiming } from "../schedule/scheduledValues.ts"
import { FiringFields, NextRunsSection, ScheduleFields } from "../schedule/ScheduleFields.tsx"
import { LimitsField } from "../../queues/LimitsField.tsx"
import { taskFormPages, TaskNameField, TaskTagsField } from "../taskFormPages.tsx"
import { chainQueries, chainRunOptions, chainRunsOptions } from "./chainKind.ts"
import {
  describeStepAction,
  chainInputOf,
  type ChainValues,
  chainValuesOf,
  newChainValues,
  newStep,
  nextStepKey,
  runConditionLabels,
  stepElementId,
  type StepValues
} from "./chainValues.ts"
import { StepFields } from "./StepFields.tsx"

const maxSteps = 50

/** Returns the latest response bodies of an edited chain's steps. */
const useAnswers = (): ReadonlyMap<string, string> => {
  const { workspaceId } = useWorkspace()
  const { taskId = "" } = useParams({ strict: false })
  const runs = useInfiniteQuery({
    ...chainRunsOptions(workspaceId, taskId),
    enabled: taskId !== ""
  })
  const run = useQuery(chainRunOptions(workspaceId, taskId, runs.data?.pages[0]?.data[0]?.id))
  const steps = run.data?.steps
  return useMemo(
    () => new Map(steps?.map(({ execution, name }) => [name, execution?.response_body ?? ""])),
    [steps]
  )
}

const ChainFields = ({ form }: { readonly form: FormOf<ChainValues> }) => {
  const answers = useAnswers()
  const { errorAt, group, set, values } = form
  const { steps } = values
  const [added, setAdded] = useState<number>()
  return (
    <>
      <Card className="flex flex-col gap-5 p-5">
        <TaskNameField {...group} isRequired placeholder="Nightly export" />
        <TaskTagsField {...form.group} />
      </Card>
      <Section title="Steps">
        <StepResponses value={answers}>
          <div className="flex flex-col gap-3">
            {steps.map((step, index) => (
              <StepFields
                key={step.key}
                step={step}
                index={index}
                isAdded={step.key === added}
                isAlone={steps.length === 1}
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
                  const step = newStep(`step${steps.length + 1}`, nextStepKey(steps))
                  setAdded(step.key)
                  set({ steps: [...steps, step] })
                }}
              >
                Add a step
              </Button>
            </div>
          </div>
        </StepResponses>
      </Section>
      <Section title="When">
        <Card className="flex flex-col gap-5 p-5">
          <ScheduleFields {...group} isRequired={false} />
          <LimitsField {...group} />
          {hasTiming(values) && <FiringFields {...group} />}
        </Card>
      </Section>
      <Section title="Dependencies">
        <Card className="p-5">
          <DependsOnField {...group} error={form.errorOf("depends_on")} />
        </Card>
      </Section>
      <CallbackFields {...group} />
    </>
  )
}

/** The steps from top to bottom. Clicking a step opens its fields. */
const StepOutline = ({ steps }: Pick<ChainValues, "steps">) => (
  <Section title="Graph">
    <ol className="flex flex-col">
      {steps.map((step, index) => (
        <li key={step.key}>
          {index > 0 && (
            <span className="flex h-8 items-center gap-3 pl-5 text-xs text-faint">
              <span aria-hidden className="h-full border-l-2 border-dashed border-edge" />
              {runConditionLabels[step.run_if]}
            </span>
          )}
          <button
            type="button"
            onClick={() => openStep(step)}
            className="block w-full rounded-lg border border-line bg-surface px-3.5 py-2.5 text-left shadow-card hover:border-edge"
          >
            <span className="block truncate font-medium">{step.name || `Step ${index + 1}`}</span>
            <span className="block truncate font-mono text-xs text-faint">
              {describeStepAction(step)}
            </span>
          </button>
        </li>
      ))}
    </ol>
  </Section>
)

const openStep = (step: StepValues) => {
  const fields = document.getElementById(stepElementId(step))
  const name = fields?.querySelector<HTMLInputElement>("input")
  if (name != null) focusField(name)
}

const ChainPreview = ({ form }: { readonly form: FormOf<ChainValues> }) => (
  <>
    <StepOutline steps={form.values.steps} />
    <NextRunsSection {...form.group} />
  </>
)

export const { Edit: EditChainPage, New: NewChainPage } = taskFormPages<
  Chain,
  ChainValues,
  ChainInput
>({
  kind: "chain",
  queries: chainQueries,
  resourceOf: ({ chains }) => chains,
  initial: newChainValues,
  valuesOf: chainValuesOf,
  copyOf: (chain) => {
    const values = chainValuesOf(chain)
    return { ...values, name: `${chain.name} (copy)`, steps: values.steps.map(copyCall) }
  },
  inputOf: chainInputOf,
  Fields: ChainFields,
  Preview: ChainPreview
})
