import type {
  Chain,
  ChainInput,
  ChainStep,
  DstOverlap,
  Missed,
  Overlap,
  QueueId,
  RunIf
} from "@scheduling/sdk"
import { readersZone } from "../../ui/values/format.ts"
import { firingOptionInputOf, firingOptionValuesOf } from "../schedule/firingOptionValues.ts"
import { callbackInputOf, callbackValuesOf } from "../call/callbackValues.ts"
import { callInputOf, type CallValues, callValuesOf, newCall } from "../call/callValues.ts"

/** A step as it is typed. Its key stays when it moves or changes its name. */
export interface StepValues extends CallValues {
  readonly key: number
  readonly name: string
  readonly run_if: RunIf
}

/** The steps of a chain that was read have their positions as keys: read again, they are the same. */
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

export const newChain = () => ({
  name: "",
  steps: [newStep("first")] as ReadonlyArray<StepValues>,
  schedule: "",
  timezone: readersZone(),
  overlap: "skip" as Overlap,
  missed: "once" as Missed,
  dst_overlap: "first" as DstOverlap,
  queue_id: null as QueueId | null,
  ...firingOptionValuesOf({}),
  ...callbackValuesOf({})
})

export type ChainValues = ReturnType<typeof newChain>

export const chainValuesOf = (chain: Chain): ChainValues => ({
  name: chain.name,
  steps: chain.steps.map((step, index) => stepValuesOf(step, index)),
  schedule: chain.schedule ?? "",
  timezone: chain.timezone,
  overlap: chain.overlap,
  missed: chain.missed,
  dst_overlap: chain.dst_overlap,
  queue_id: chain.queue_id,
  ...firingOptionValuesOf(chain),
  ...callbackValuesOf(chain)
})

export const chainInputOf = (values: ChainValues): ChainInput => ({
  name: values.name.trim(),
  steps: values.steps.map((step) => ({
    ...callInputOf(step),
    name: step.name.trim(),
    run_if: step.run_if
  })),
  schedule: values.schedule.trim() === "" ? null : values.schedule.trim(),
  timezone: values.timezone.trim(),
  overlap: values.overlap,
  missed: values.missed,
  dst_overlap: values.dst_overlap,
  queue_id: values.queue_id,
  ...firingOptionInputOf(values),
  ...callbackInputOf(values)
})

const reference = /\{\{\s*steps\.([\w-]+)/g

/** What is wrong with the references of a step: they may only name steps before it. */
export const referenceProblem = (
  step: StepValues,
  before: ReadonlyArray<StepValues>
): string | undefined => {
  const known = new Set(before.map(({ name }) => name.trim()))
  const texts = [step.url, step.body, ...step.headers.flat()]
  const unknown = texts
    .flatMap((text) => Array.from(text.matchAll(reference), ([, name = ""]) => name))
    .find((name) => !known.has(name))
  return unknown === undefined ? undefined : `No step before this one is called “${unknown}”.`
}
