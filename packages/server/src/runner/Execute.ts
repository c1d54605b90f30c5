import { answersOf } from "@scheduling/domain/chains/Answers"
import { renderCall } from "@scheduling/domain/chains/StepCall"
import { Effect, Random, type Redacted, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { nextAttempt } from "./Backoff.ts"
import { Call } from "./Call.ts"
import { type EndedStep, findEndedSteps, followUp } from "./ChainRuns.ts"
import type { DbClock } from "./DbClock.ts"
import type { RunCall, Settlement, StartedRun } from "./Run.ts"

/** Who executes a run, and since when: null until its time has come. */
export interface Execution {
  readonly node: number
  readonly clock: DbClock
  started_ms: number | null
}

/** Makes the call of a run when it is due, and decides what comes after it. */
export const execute = Effect.fnUntraced(function* (
  run: StartedRun,
  execution: Execution,
  secrets: ReadonlyArray<Redacted.Redacted>
) {
  const { clock } = execution
  const early = run.due_ms - clock.now()
  // Timers count whole milliseconds, and may be up to one early.
  if (early > 0) yield* Effect.sleep(Math.ceil(early))
  execution.started_ms = Math.max(clock.now(), run.due_ms)

  const caller = yield* Call
  const earlier = run.chain_run_id === null ? [] : yield* earlierSteps(run)
  const call = callOf(run, earlier)
  if (Result.isFailure(call)) {
    return settlementOf(run, execution, {
      status: "failed",
      error: call.failure,
      earlier
    })
  }

  const { retry_count, ...request } = call.success
  const answer = yield* caller.run({
    ...request,
    execution_id: run.id,
    attempt: run.attempt,
    secrets
  })
  const retryDelay =
    answer.outcome === "retryable"
      ? nextAttempt(
          {
            failures: run.attempt - run.lost,
            retry_count,
            retry_after_seconds: answer.retry_after_seconds
          },
          yield* Random.next
        )
      : null
  return settlementOf(run, execution, {
    ...answer,
    status: answer.outcome === "success" ? "succeeded" : retryDelay === null ? "failed" : null,
    retry_delay_ms: retryDelay,
    earlier
  })
})

/** What is written about a run that was leased to this node. */
export const settlementOf = (
  run: StartedRun,
  { clock, node, started_ms }: Readonly<Execution>,
  end: Partial<Settlement> &
    Pick<Settlement, "status" | "error"> & { readonly earlier?: ReadonlyArray<EndedStep> }
): Settlement => {
  const finished = clock.now()
  const outcomes = (end.earlier ?? []).map((step) => step.status)
  return {
    id: run.id,
    chain_run_id: run.chain_run_id,
    workspace_id: run.workspace_id,
    attempt: run.attempt,
    lease_owner: node,
    status: end.status,
    retry_delay_ms: end.retry_delay_ms ?? null,
    lost: false,
    started: started_ms !== null,
    started_ms,
    finished_ms: finished,
    status_code: end.status_code ?? null,
    response_body: end.response_body ?? null,
    error: end.error,
    ...(end.status === null
      ? { next: null, skipped: [] }
      : followUp(run, outcomes, end.status, finished))
  }
}

const callOf = (
  run: StartedRun,
  earlier: ReadonlyArray<EndedStep>
): Result.Result<RunCall, string> => {
  if (run.kind !== "chain") {
    return run.call === null ? Result.fail("the task has no call") : Result.succeed(run.call)
  }
  const step = run.steps?.[run.step_index ?? 0]
  if (step === undefined) return Result.fail("the chain has no such step")
  const answers = answersOf(new Map(earlier.map((ended) => [ended.step, ended])))
  const { method, retry_count, timeout_seconds } = step
  return Result.map(renderCall(step, answers), (call) => ({
    method,
    retry_count,
    timeout_seconds,
    ...call
  }))
}

const earlierSteps = Effect.fnUntraced(function* (run: StartedRun) {
  const { chain_run_id, step_index, workspace_id } = run
  if (chain_run_id === null || step_index === null || step_index === 0) return []
  const sql = yield* SqlClient.SqlClient
  return yield* findEndedSteps(sql, { workspace_id, chain_run_id }).pipe(
    // The run has started, and only its node can end it: the database may take its time.
    Effect.retry({ schedule: Schedule.spaced("500 millis") }),
    Effect.orDie
  )
})
