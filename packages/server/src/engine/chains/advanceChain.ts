import type { RunIf } from "@scheduling/domain/chains/Chain"

/** How a step ended. `skipped`: its `run_if` did not hold. */
export type StepOutcome = "succeeded" | "failed" | "cancelled" | "skipped"

export interface Advance {
  /** The step to start, or null if the run has ended. */
  readonly next: number | null
  /** The steps that are passed over on the way there, in order. */
  readonly skipped: ReadonlyArray<number>
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
}

/**
 * What a chain run does once its first `outcomes.length` steps have ended.
 *
 * - A step runs if nothing before it failed (`success`), if something before it did (`failure`), or
 *   in any case (`always`). All earlier steps count, not only the one directly before, so one
 *   failure leads to every later `failure` step.
 * - A run with a failed step has failed, whatever ran after it. Skipped steps do not count as
 *   failures.
 * - A cancelled step ends the run. Not even `always` steps run then, because somebody wants the run
 *   to stop.
 */
export const advanceChain = (
  steps: ReadonlyArray<{ readonly run_if: RunIf }>,
  outcomes: ReadonlyArray<StepOutcome>
): Advance => {
  const cancelled = outcomes.includes("cancelled")
  const failed = outcomes.includes("failed")
  const skipped: Array<number> = []
  for (const [index, step] of steps.entries()) {
    if (index < outcomes.length) continue
    if (!cancelled && holds(step.run_if, failed)) return { next: index, skipped, status: "running" }
    skipped.push(index)
  }
  return { next: null, skipped, status: cancelled ? "cancelled" : failed ? "failed" : "succeeded" }
}

const holds = (runIf: RunIf, failed: boolean): boolean =>
  runIf === "always" || (runIf === "failure") === failed
