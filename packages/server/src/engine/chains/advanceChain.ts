import type { RunIf } from "@scheduling/domain/chains/ChainStep"

/** The result of a step. `skipped`: its `run_if` did not match. */
export type StepOutcome = "succeeded" | "failed" | "cancelled" | "skipped"

export interface ChainAdvance {
  /** The step to start. Null if the run has finished. */
  readonly next: number | null
  /** The steps that are skipped before it, in order. */
  readonly skipped: ReadonlyArray<number>
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
}

/**
 * Decides how a chain run continues after its first `outcomes.length` steps.
 *
 * - A step runs if no earlier step failed (`success`), if one did (`failure`), or in any case
 *   (`always`). All earlier steps count, not only the previous one, so one failure leads to every
 *   later `failure` step.
 * - A run with a failed step has failed, regardless of later steps. Skipped steps do not count as
 *   failures.
 * - A cancelled step ends the run. Not even `always` steps run then, because a user wants the run
 *   to stop.
 */
export const advanceChain = (
  steps: ReadonlyArray<{ readonly run_if: RunIf }>,
  outcomes: ReadonlyArray<StepOutcome>
): ChainAdvance => {
  const cancelled = outcomes.includes("cancelled")
  const failed = outcomes.includes("failed")
  const skipped: Array<number> = []
  for (const [index, step] of steps.entries()) {
    if (index < outcomes.length) continue
    if (!cancelled && conditionHolds(step.run_if, failed))
      return { next: index, skipped, status: "running" }
    skipped.push(index)
  }
  return { next: null, skipped, status: cancelled ? "cancelled" : failed ? "failed" : "succeeded" }
}

const conditionHolds = (runIf: RunIf, failed: boolean): boolean =>
  runIf === "always" || (runIf === "failure") === failed
