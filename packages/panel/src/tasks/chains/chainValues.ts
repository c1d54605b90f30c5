import type { Chain, ChainInput, ChainStep, RunIf } from "@scheduling/sdk"
import { callInputOf, type CallValues, callValuesOf, newCall } from "../call/callValues.ts"
import {
  newScheduled,
  scheduledInputOf,
  type ScheduledValues,
  scheduledValuesOf
} from "../schedule/scheduledValues.ts"

/** A step as form values. Moving or renaming the step does not change its key. */
export interface StepValues extends CallValues {
  readonly key: number
  readonly name: string
  readonly run_if: RunIf
}

/**
 * Stored steps use their positions as keys, so that a refetch does not change them. New steps get
 * higher keys.
 */
let lastKey = 1_000

export const newStep = (name: string): StepValues => ({
  ...newCall,
  retry_count: "0",
  key: ++lastKey,
  name,
  run_if: "success"
})

const stepValuesOf = (step: ChainStep, key: number): StepValues => ({
  ...callValuesOf(step),
  key,
  name: step.name,
  run_if: step.run_if
})

export interface ChainValues extends ScheduledValues {
  readonly steps: ReadonlyArray<StepValues>
}

export const newChain: ChainValues = { ...newScheduled, steps: [newStep("first")] }

export const chainValuesOf = (chain: Chain): ChainValues => ({
  ...scheduledValuesOf(chain),
  steps: chain.steps.map((step, index) => stepValuesOf(step, index))
})

export const chainInputOf = (values: ChainValues): ChainInput => ({
  ...scheduledInputOf(values),
  steps: values.steps.map((step) => ({
    ...callInputOf(step),
    name: step.name.trim(),
    run_if: step.run_if
  }))
})

const reference = /\{\{\s*steps\.([\w-]+)/g

/** Returns the problem with a step's references, which may only refer to earlier steps. */
export const referenceProblem = (
  step: StepValues,
  before: ReadonlyArray<StepValues>
): string | undefined => {
  const known = new Set(before.map(({ name }) => name.trim()))
  const texts = [step.url, step.body, ...step.headers.map(([, value]) => value)]
  const unknown = texts
    .flatMap((text) => Array.from(text.matchAll(reference), ([, name = ""]) => name))
    .find((name) => !known.has(name))
  return unknown === undefined ? undefined : `No earlier step has the name “${unknown}”.`
}
