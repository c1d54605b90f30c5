import type {
  ApproveStep,
  Chain,
  ChainInput,
  ChainStep,
  ChainStepInput,
  RunIf,
  WaitStep,
  NotificationChannelId,
  UserId
} from "@scheduling/sdk"
import { callInputOf, type CallValues, callValuesOf, newCallValues } from "../call/callValues.ts"
import {
  newScheduledValues,
  scheduledInputOf,
  type ScheduledValues,
  scheduledValuesOf
} from "../schedule/scheduledValues.ts"

/** The fields for a step that waits for a duration or until a given time. */
interface WaitValues {
  readonly wait_for: "seconds" | "until"
  readonly seconds: string
  readonly until: string
}

/** The fields for a step that waits for approval. */
interface ApproveValues {
  readonly message: string
  readonly channel_ids: ReadonlyArray<string>
  readonly approvers: ReadonlyArray<string>
  readonly approval_seconds: string
}

/**
 * A step as form values. It has the fields of all kinds, so that changing the kind loses nothing.
 * The key stays the same when the step is moved or renamed.
 */
export interface StepValues extends CallValues, WaitValues, ApproveValues {
  readonly key: number
  readonly kind: ChainStep["kind"]
  readonly name: string
  readonly run_if: RunIf
}

export const newStep = (name: string, key: number): StepValues => ({
  ...newCallValues,
  ...newWait,
  ...newApproval,
  retry_count: "0",
  key,
  kind: "call",
  name,
  run_if: "success"
})

/**
 * Returns the key for the next new step. Stored steps use their positions as keys, so that a
 * refetch does not change the keys. New steps get higher keys.
 */
export const nextStepKey = (steps: ReadonlyArray<StepValues>): number =>
  Math.max(1_000, ...steps.map(({ key }) => key)) + 1

const newWait: WaitValues = { wait_for: "seconds", seconds: "3600", until: "" }

const newApproval: ApproveValues = {
  message: "",
  channel_ids: [],
  approvers: [],
  approval_seconds: "86400"
}

const stepValuesOf = (step: ChainStep, key: number): StepValues => ({
  ...newStep(step.name, key),
  ...kindValuesOf(step),
  kind: step.kind,
  run_if: step.run_if
})

const kindValuesOf = (step: ChainStep) => {
  if (step.kind === "call") return callValuesOf(step)
  return step.kind === "wait" ? waitValuesOf(step) : approveValuesOf(step)
}

const approveValuesOf = (step: ApproveStep): ApproveValues => ({
  message: step.message ?? "",
  channel_ids: step.channel_ids,
  approvers: step.approvers,
  approval_seconds: String(step.timeout_seconds)
})

const waitValuesOf = ({ seconds, until }: WaitStep): WaitValues =>
  until === null
    ? { wait_for: "seconds", seconds: String(seconds), until: "" }
    : { wait_for: "until", seconds: newWait.seconds, until }

export interface ChainValues extends ScheduledValues {
  readonly steps: ReadonlyArray<StepValues>
}

export const newChainValues: ChainValues = { ...newScheduledValues, steps: [newStep("first", 0)] }

export const chainValuesOf = (chain: Chain): ChainValues => ({
  ...scheduledValuesOf(chain),
  steps: chain.steps.map((step, index) => stepValuesOf(step, index))
})

export const chainInputOf = (values: ChainValues): ChainInput => ({
  ...scheduledInputOf(values),
  steps: values.steps.map(stepInputOf)
})

const stepInputOf = (step: StepValues): ChainStepInput => {
  const { kind, run_if } = step
  const name = step.name.trim()
  if (kind === "call") return { ...callInputOf(step), name, run_if }
  if (kind === "approve") {
    return {
      kind,
      name,
      message: step.message.trim() || null,
      channel_ids: step.channel_ids as ReadonlyArray<NotificationChannelId>,
      approvers: step.approvers as ReadonlyArray<UserId>,
      timeout_seconds: Number(step.approval_seconds),
      run_if
    }
  }
  return step.wait_for === "seconds"
    ? { kind, name, seconds: Number(step.seconds), run_if }
    : { kind, name, until: step.until.trim(), run_if }
}

/** The id of a step's fields in the form. */
export const stepElementId = ({ key }: StepValues): string => `step-${key}`

export const runConditionLabels: Readonly<Record<RunIf, string>> = {
  success: "if no earlier step failed",
  failure: "if an earlier step failed",
  always: "always"
}

/** Describes what a step does, in one line. */
export const describeStep = (step: StepValues): string =>
  `${describeStepAction(step)}, ${runConditionLabels[step.run_if]}`

export const describeStepAction = ({
  kind,
  message,
  method,
  seconds,
  until,
  url,
  wait_for
}: StepValues): string => {
  if (kind === "call") return `${method} ${url.trim() || "no URL yet"}`
  if (kind === "approve") return message.trim() || "Waits for approval"
  return wait_for === "seconds" ? `Waits for ${seconds} s` : `Waits until ${until}`
}

const reference = /\{\{\s*steps\.([\w-]+)/g

/** Returns the problem with a step's references. A step can refer only to earlier steps. */
export const referenceProblem = (
  step: StepValues,
  before: ReadonlyArray<StepValues>
): string | undefined => {
  const known = new Set(before.map(({ name }) => name.trim()))
  const texts =
    step.kind === "call"
      ? [step.url, step.body, ...step.headers.map(([, value]) => value)]
      : [step.kind === "wait" ? step.until : step.message]
  const unknown = texts
    .flatMap((text) => Array.from(text.matchAll(reference), ([, name = ""]) => name))
    .find((name) => !known.has(name))
  return unknown === undefined ? undefined : `No earlier step has the name “${unknown}”.`
}
