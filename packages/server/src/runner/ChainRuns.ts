import { advanceChain, type StepOutcome } from "@scheduling/domain/chains/advance"
import type { StepAnswer } from "@scheduling/domain/chains/Answers"
import type { ChainStep } from "@scheduling/domain/chains/Chain"
import type { SqlClient } from "effect/sql"
import type { NextStep } from "./Run.ts"
import { makeRunId } from "./RunId.ts"

export interface EndedStep extends StepAnswer {
  readonly step: string
  readonly status: StepOutcome
}

/** The steps of a chain run that have ended, in order, with what they were answered last. */
export const findEndedSteps = (
  sql: SqlClient.SqlClient,
  run: { readonly workspace_id: string; readonly chain_run_id: string }
) =>
  // Later steps have later ids than the run, so that older partitions are not looked at.
  sql<EndedStep>`
    SELECT executions.step, executions.status, attempts.status_code, attempts.response_body
    FROM executions
    LEFT JOIN attempts
      ON attempts.execution_id = executions.id
      AND attempts.number = executions.attempts_count
      AND attempts.execution_id >= ${run.chain_run_id}
    WHERE executions.chain_run_id = ${run.chain_run_id}
      AND executions.id >= ${run.chain_run_id}
      AND executions.workspace_id = ${run.workspace_id}
    ORDER BY executions.step_index`

/** What comes after a step that ends: the step to start, and those that are passed over. */
export const followUp = (
  run: {
    readonly step_index: number | null
    readonly steps: ReadonlyArray<ChainStep> | null
  },
  earlier: ReadonlyArray<StepOutcome>,
  outcome: StepOutcome,
  nowMs: number
): { readonly next: NextStep | null; readonly skipped: ReadonlyArray<NextStep> } => {
  const { step_index, steps } = run
  // A run that is skipped, because the one before it goes on, has no steps to pass over either.
  if (steps === null || step_index === null || outcome === "skipped") {
    return { next: null, skipped: [] }
  }
  // A cancelled step ends the run whatever came before it, so callers need not know that.
  const before = Array.from({ length: step_index }, (_, index) => earlier[index] ?? "skipped")
  const { next, skipped } = advanceChain(steps, [...before, outcome])
  const toNext = (index: number): NextStep => ({
    id: makeRunId(nowMs, nowMs),
    step_index: index,
    step: steps[index]?.name ?? ""
  })
  return { next: next === null ? null : toNext(next), skipped: skipped.map(toNext) }
}
