import type { LastChainRun } from "@scheduling/domain/chains/Chain"
import type { ChainRun, ChainRunDetail, StepExecution } from "@scheduling/domain/chains/ChainRun"
import type { ExecutionStatus } from "@scheduling/domain/executions/Execution"
import { ChainId, ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import { shownError } from "../executions/ExecutionsRepo.ts"
import { timestampOf, timestampOrNull } from "../../store/index.ts"
import type { StepRowWithResponse, ChainRunRow, StepRow } from "./ChainRunsRepo.ts"

/**
 * Converts a chain run's row. `chainSteps` contains the names of the chain's current steps, which
 * are shown for a run that has not started.
 */
export const toChainRun = (run: ChainRunRow, chainSteps: ReadonlyArray<string>): ChainRun =>
  runWith(run, chainSteps, toStepExecution)

/** Converts a run's rows, including its input and its steps' responses. */
export const toChainRunDetail = (
  run: ChainRunRow<StepRowWithResponse>,
  chainSteps: ReadonlyArray<string>
): ChainRunDetail => ({
  ...runWith(run, chainSteps, (row) => ({
    ...toStepExecution(row),
    response_body: row.response_body
  })),
  input: run.steps[0].input
})

const runWith = <Step extends StepRow, Shown>(
  run: ChainRunRow<Step>,
  chainSteps: ReadonlyArray<string>,
  show: (row: Step) => Shown
) => {
  const [head] = run.steps
  const goesOn = run.steps.some(isUnfinished)
  const rows = new Map(run.steps.map((row) => [row.step_index, row]))
  return {
    id: ChainRunId.make(run.id),
    chain_id: ChainId.make(run.chain_id),
    trigger: triggerOf(head),
    status: statusOf(run),
    scheduled_for: timestampOf(head.scheduled_for),
    started_at: timestampOrNull(chainRunStart(run)),
    finished_at: timestampOrNull(finishOf(run)),
    steps: namesOf(run, chainSteps).map((name, index) => {
      const row = rows.get(index)
      return row === undefined
        ? { name, status: goesOn ? ("pending" as const) : ("skipped" as const), execution: null }
        : { name, status: row.status, execution: show(row) }
    })
  }
}

export const toLastChainRun = (run: ChainRunRow): LastChainRun => ({
  run_id: ChainRunId.make(run.id),
  status: statusOf(run),
  finished_at: timestampOrNull(finishOf(run))
})

/** Returns when the first of a chain run's steps started. */
export const chainRunStart = ({ steps }: ChainRunRow): Date | null =>
  steps.find((row) => row.started_at !== null)?.started_at ?? null

const isUnfinished = (row: StepRow) => row.status === "queued" || row.status === "running"

const triggerOf = ({ trigger }: StepRow): ChainRun["trigger"] =>
  trigger === "manual" || trigger === "rerun" ? trigger : "schedule"

const statusOf = ({ steps }: ChainRunRow): ExecutionStatus => {
  const [head] = steps
  if (steps.some(isUnfinished)) {
    return head.status === "queued" && head.started_at === null ? "queued" : "running"
  }
  if (steps.some((row) => row.status === "cancelled")) return "cancelled"
  if (steps.some((row) => row.status === "failed")) return "failed"
  return head.status === "skipped" ? "skipped" : "succeeded"
}

const finishOf = ({ steps }: ChainRunRow): Date | null =>
  steps.reduce<Date | null>(
    (latest, { finished_at }) =>
      latest === null || finished_at === null || finished_at < latest ? latest : finished_at,
    steps.some(isUnfinished) ? null : steps[0].finished_at
  )

/**
 * Returns the names of a run's steps. A finished run has a row for each step, even for those that
 * were skipped.
 */
const namesOf = ({ steps }: ChainRunRow, chainSteps: ReadonlyArray<string>) => {
  const taken = steps.find((row) => row.names !== null)?.names
  if (taken !== null && taken !== undefined) return taken
  const neverStarted = steps.length === 1 && steps[0].step === null
  return neverStarted
    ? chainSteps
    : steps.map((row) => row.step ?? chainSteps[row.step_index] ?? "")
}

const toStepExecution = (row: StepRow): StepExecution => ({
  id: ExecutionId.make(row.id),
  started_at: timestampOrNull(row.started_at),
  finished_at: timestampOrNull(row.finished_at),
  duration_ms: row.duration_ms,
  status_code: row.status_code,
  error: shownError(row.error),
  awaiting_completion_since: timestampOrNull(row.awaiting_since),
  waits_until: timestampOrNull(row.waits_until),
  approval: row.approval
})

/** The fields of a step that has not started. */
export const queuedStepFields = {
  started_at: null,
  finished_at: null,
  duration_ms: null,
  status_code: null,
  error: null,
  awaiting_since: null,
  waits_until: null,
  approval: null,
  names: null
}
