import { executionError } from "@scheduling/domain/executions/ExecutionError"
import type { StepResponse } from "@scheduling/calls/templateValues"
import { Effect, Result, Schedule, type Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { inputIndex, type Pause } from "../chains/ChainVersions.ts"
import type { ByteReservation } from "../leased-runs/ByteBudget.ts"
import { maxInlineCallBytes, type RunCall, type StartedRun, type StepPosition } from "../Run.ts"
import { failWithoutCall, type LoadedCall, type CallProblem } from "./fillCall.ts"
import type { LoadedPauseStep } from "./fillPause.ts"

/**
 * Loads a call that was too large to be returned with the start of its run. Loading begins when the
 * node has enough memory. The run is already marked as running, so that a call that crashes the
 * node counts as a lost attempt.
 */
export const loadCall = Effect.fnUntraced(function* (
  run: StartedRun,
  { allowance, loads }: { readonly allowance: ByteReservation; readonly loads: Semaphore.Semaphore }
) {
  for (let room = run.withheld; ;) {
    if (room > maxInlineCallBytes) yield* allowance.take(room)
    const { call, needs } = yield* readCall(run, loads, room)
    if (needs <= room) {
      allowance.shrink(
        Result.isSuccess(call) && "call" in call.success ? sizeOf(call.success.call) : 0
      )
      return call
    }
    allowance.shrink(0)
    room = needs
  }
})

/**
 * Reads a call of any size that was not returned with the start of its run. The caller limits the
 * number of concurrent reads. It is used only for workers, which never run a step that makes no
 * call.
 */
export const loadWholeCall = (run: StartedRun, loads: Semaphore.Semaphore) =>
  Effect.map(readCall(run, loads, Number.MAX_SAFE_INTEGER), ({ call }) =>
    Result.flatMap(call, (loaded) => ("call" in loaded ? Result.succeed(loaded) : noStep))
  )

/** Retries until the database responds, because only the holder of a started run can finish it. */
const readCall = (run: StartedRun, loads: Semaphore.Semaphore, room: number) =>
  loads
    .withPermit(run.position === null ? readTask(run, room) : readStep(run, run.position))
    .pipe(Effect.retry({ schedule: Schedule.spaced("500 millis") }), Effect.orDie)

/** The problem of a run whose task was deleted or replaced after the run had started. */
export const missingCallFailure = failWithoutCall(
  executionError("task_changed", "the task no longer exists or no longer makes a call")
)

const noStep = failWithoutCall(executionError("task_changed", "the chain no longer has this step"))

interface Loaded {
  readonly call: Result.Result<LoadedCall | LoadedPauseStep, CallProblem>
  /** The memory that the call needs. If `room` is smaller, the long parts were not read. */
  readonly needs: number
}

/**
 * Reads the current definition of the call. The definition may have changed since the run started.
 */
const readTask = Effect.fnUntraced(function* (run: StartedRun, room: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<RunCall & { readonly bytes: number }>`
      SELECT
        tasks.method, tasks.url, tasks.timeout_seconds, tasks.retry_count, tasks.call_options,
        tasks.bytes,
        CASE WHEN tasks.bytes <= ${room} THEN tasks.headers END AS headers,
        CASE WHEN tasks.bytes <= ${room} THEN tasks.body END AS body
      FROM runs
      JOIN tasks ON tasks.id = runs.task_id
      WHERE runs.workspace_id = ${run.workspace_id}
        AND runs.id = ${run.id}`
  if (row === undefined) return { call: missingCallFailure, needs: 0 }
  const { bytes, ...call } = row
  const loaded: Loaded = { call: Result.succeed({ call }), needs: bytes }
  return loaded
})

interface StepRow extends RunCall {
  /** What the step waits for, if it makes no call. */
  readonly pause: Pause | null
  /** The indexes of the steps whose responses the step uses, and `inputIndex`. */
  readonly uses: ReadonlyArray<number>
  /** The input of the run as JSON, if it has one and the step uses it. */
  readonly input: string | null
}

/** Reads the call of a step, with the input and the responses of earlier steps that it uses. */
const readStep = Effect.fnUntraced(function* (run: StartedRun, position: StepPosition) {
  const sql = yield* SqlClient.SqlClient
  const [step] = yield* sql<StepRow>`
      SELECT
        method, url, headers, body, timeout_seconds, retry_count, call_options, pause, uses,
        CASE WHEN ${inputIndex} = ANY (uses) THEN (
          SELECT input::text
          FROM run_inputs
          WHERE id = ${position.chain_run_id}
            AND workspace_id = ${run.workspace_id}
        ) END AS input
      FROM chain_steps
      WHERE version_id = ${position.version_id}
        AND step_index = ${position.step_index}`
  if (step === undefined) return { call: noStep, needs: 0 }
  const { input, pause, uses, ...call } = step
  const steps = uses.filter((index) => index !== inputIndex)
  const found = steps.length === 0 ? [] : yield* findAnswers(sql, run, position, steps)
  const answers = new Map(found.map((answer) => [answer.step, answer]))
  const values = { answers, input }
  const loaded: Loaded = {
    call: Result.succeed(pause === null ? { call, step: values } : { pause, step: values }),
    needs: 0
  }
  return loaded
})

/** Returns the last responses to the given earlier steps, except skipped ones. */
const findAnswers = (
  sql: SqlClient.SqlClient,
  run: StartedRun,
  { chain_run_id, version_id }: StepPosition,
  steps: ReadonlyArray<number>
) =>
  // No step has an id below that of its chain run, so older partitions need not be read.
  sql<StepResponse & { readonly step: string }>`
    SELECT chain_steps.name AS step, executions.status_code, executions.response_body
    FROM executions
    JOIN chain_steps
      ON chain_steps.version_id = ${version_id}
      AND chain_steps.step_index = executions.step_index
    WHERE executions.chain_run_id = ${chain_run_id}
      AND executions.id >= ${chain_run_id}
      AND executions.workspace_id = ${run.workspace_id}
      AND executions.step_index = ANY (${steps}::int2[])
      AND executions.attempts_count > 0`

const sizeOf = ({ body, headers, url }: RunCall): number =>
  Buffer.byteLength(url + JSON.stringify(headers) + (body ?? ""))
