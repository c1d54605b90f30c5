import { Effect, Random, type Redacted, Result, type Semaphore } from "effect"
import { nextAttempt } from "./Backoff.ts"
import type { Allowance } from "../intake/ByteBudget.ts"
import { Call, type CallResult } from "@scheduling/calls/Call"
import type { DbClock } from "../DbClock.ts"
import { loadCall } from "./LoadCall.ts"
import { type RunCall, type Settlement, settlementOf, type StartedRun } from "../../queue/Run.ts"

/** Who executes a run and with what. */
export interface Execution {
  readonly node: number
  readonly clock: DbClock
  readonly allowance: Allowance
  readonly loads: Semaphore.Semaphore
  /** Null until its time has come. */
  started_ms: number | null
  /** Sent with the call. Undefined if nobody collects traces. */
  readonly traceparent: string | undefined
}

/** Makes the call of a run when it is due, and decides what comes after it. */
export const execute = Effect.fnUntraced(function* (
  run: StartedRun,
  execution: Execution,
  secrets: ReadonlyArray<Redacted.Redacted>
) {
  const { clock } = execution
  const early = run.due_ms - clock.now()
  // Timers count whole milliseconds and may fire up to one early.
  if (early > 0) yield* Effect.sleep(Math.ceil(early))
  const call = run.withheld === 0 ? givenCall(run) : yield* loadCall(run, execution)
  execution.started_ms = Math.max(clock.now(), run.due_ms)
  if (Result.isFailure(call)) {
    return endOf(run, execution, { status: "failed", error: call.failure })
  }

  const calls = yield* Call
  const { call_options, retry_count, ...request } = call.success
  const answer = yield* calls.run({
    ...request,
    success: call_options,
    workspace_id: run.workspace_id,
    execution_id: run.id,
    attempt: run.attempt,
    task: { id: run.task_id, scheduled_ms: run.scheduled_ms },
    secrets,
    ...(execution.traceparent !== undefined && { traceparent: execution.traceparent })
  })
  const verdict = verdictOn(answer, { ...run, retry_count, call_options }, yield* Random.next)
  return endOf(run, execution, { ...answer, ...verdict })
})

/** What comes after a call: an end, or another attempt. */
export const verdictOn = (
  answer: Pick<CallResult, "outcome" | "retry_after_seconds">,
  run: Pick<StartedRun, "attempt" | "lost"> & Pick<RunCall, "retry_count" | "call_options">,
  random: number
) => {
  const { retry_after_seconds } = answer
  const failures = run.attempt - run.lost
  const retry_delay_ms =
    answer.outcome === "retryable"
      ? nextAttempt(
          {
            failures,
            retry_count: run.retry_count,
            waits: run.call_options?.retry,
            retry_after_seconds
          },
          random
        )
      : null
  const status =
    answer.outcome === "success" ? "succeeded" : retry_delay_ms === null ? "failed" : null
  return { status, retry_delay_ms } as const
}

/** What is written about a run that this node executed, or was about to. */
export const endOf = (
  run: StartedRun,
  { clock, node, started_ms }: Execution,
  end: Parameters<typeof settlementOf>[2]
): Settlement =>
  settlementOf(run, node, {
    ...end,
    started: started_ms !== null,
    started_ms,
    finished_ms: clock.now()
  })

const givenCall = ({ call }: StartedRun) =>
  call === null ? Result.fail("the task has no call") : Result.succeed(call)
