import {
  type ChainStep,
  chainStepDefaults,
  type ChainStepInput
} from "@scheduling/domain/chains/Chain"
import { withCallOptions } from "../callOptions.ts"

export const targetsOf = (steps: ReadonlyArray<ChainStepInput>) =>
  steps.map(({ run_on = null, url }, index) => ({ path: ["steps", index, "url"], url, run_on }))

export const withDefaults = (given: ChainStepInput): ChainStep => {
  const { call_options, ...step } = withCallOptions({ ...chainStepDefaults, ...given })
  return { ...step, ...call_options }
}
