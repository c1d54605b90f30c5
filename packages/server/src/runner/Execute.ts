import { Effect, Random, type Redacted, Result, type Semaphore } from "effect"
import { nextAttempt } from "./Backoff.ts"
import type { Allowance } from "./ByteBudget.ts"
import { Call } from "./Call.ts"
import type { DbClock } from "./DbClock.ts"
import { loadCall } from "./LoadCall.ts"
import { delayedTaskOf, type Settlement, type StartedRun } from "./Run.ts"

/** Who executes a run, with what, and since when: null until its time has come. */
export interface Execution {
  readonly node: number
  readonly clock: DbClock
  readonly allowance: Allowance
  readonly loads: Semaphore.Semaphore
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
  const call = run.withheld === 0 ? givenCall(run) : yield* loadCall(run, execution)
  execution.started_ms = Math.max(clock.now(), run.due_ms)
  if (Result.isFailure(call)) {
    return settlementOf(run, execution, { status: "failed", error: call.failure })
  }

  const caller = yield* Call
  const { retry_count, ...request } = call.success
  const answer = yield* caller.run({
    ...request,
    workspace_id: run.workspace_id,
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
    retry_delay_ms: retryDelay
  })
})

/** What is written about a run that was leased to this node. */
export const settlementOf = (
  run: StartedRun,
  { clock, node, started_ms }: Readonly<Pick<Execution, "clock" | "node" | "started_ms">>,
  end: Partial<Settlement> & Pick<Settlement, "status" | "error">
): Settlement => ({
  id: run.id,
  workspace_id: run.workspace_id,
  delayed_task_id: delayedTaskOf(run),
  attempt: run.attempt,
  lease_owner: node,
  status: end.status,
  retry_delay_ms: end.retry_delay_ms ?? null,
  lost: false,
  started: started_ms !== null,
  started_ms,
  finished_ms: clock.now(),
  status_code: end.status_code ?? null,
  response_body: end.response_body ?? null,
  error: end.error,
  place: run.place
})

const givenCall = ({ call }: StartedRun) =>
  call === null ? Result.fail("the task has no call") : Result.succeed(call)
