import { type ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect, Exit, type Fiber, Random, type Redacted, Result, type Semaphore } from "effect"
import type { SqlClient } from "effect/sql"
import type { Allowance } from "../intake/ByteBudget.ts"
import { Call, exitOf, type ReadyCall } from "@scheduling/calls/Call"
import type { CallRequest } from "@scheduling/calls/CallRequest"
import type { CallResult } from "@scheduling/calls/CallResult"
import { maxAnswerSeconds } from "@scheduling/domain/calls/CallOptions"
import { asksForCallback, type CompletionUrls } from "../completions/CompletionUrls.ts"
import type { DbClock } from "../../store/index.ts"
import { loadCall, noCall } from "./LoadCall.ts"
import { cannotSign } from "../signing/SigningSecrets.ts"
import { classifyResult } from "./classifyResult.ts"
import { type RunCall, type Settlement, settlementOf, type StartedRun } from "../Run.ts"

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
  readonly completionUrls: CompletionUrls["Service"]
  /** Whether a connection is opened before its time has come. */
  readonly connectsAhead: boolean
}

type OnEnd = (end: Exit.Exit<Settlement>) => void

/** A run that is executed. */
export interface Executed {
  /** Stops it, whatever it is doing. */
  readonly cutOff: () => void
  /** Waits for its time or reads its call. Null if neither is needed. */
  readonly preparing: Fiber.Fiber<unknown> | null
}

/**
 * Executes a run: makes its call when it is due, and decides what comes after it. `onEnd` is called
 * once, with the result.
 *
 * 1. A run that is due and has its call makes it at once (`makeCall`), without a fiber, which takes a
 *    twentieth of a run.
 * 2. For a run that is early, `makeReady` prepares the request, where the call is known.
 * 3. A fiber waits until the run is due or reads its call (`prepare`). Then the request that is ready
 *    begins (`beginCall`), or the call is made (`makeCall`).
 */
export const makeExecute = Effect.gen(function* () {
  const runFork = Effect.runForkWith(yield* Effect.context<SqlClient.SqlClient>())
  const { beginCall, makeCall, makeReady } = yield* makeCalling

  return (
    run: StartedRun,
    execution: Execution,
    secrets: ReadonlyArray<Redacted.Redacted>,
    onEnd: OnEnd
  ): Executed => {
    const early = run.due_ms - execution.clock.now()
    if (early <= 0 && run.withheld === 0) {
      const cutOff = makeCall(run, execution, secrets, givenCall(run), onEnd)
      return { cutOff, preparing: null }
    }
    const ready = early > 0 ? makeReady(run, execution, secrets, early) : undefined
    let cutOff = () => preparing.interruptUnsafe()
    const preparing = runFork(prepare(run, execution, early))
    preparing.addObserver((exit) => {
      if (Exit.isFailure(exit)) {
        ready?.drop()
        onEnd(Exit.failCause(exit.cause))
        return
      }
      cutOff =
        ready === undefined
          ? makeCall(run, execution, secrets, exit.value, onEnd)
          : beginCall(run, execution, ready.call, ready.begin, onEnd)
    })
    return { cutOff: () => cutOff(), preparing }
  }
})

/** The steps of making a call. None of them needs a fiber. */
const makeCalling = Effect.gen(function* () {
  const calls = yield* Call
  const random = yield* Random.Random

  /** Begins the call of a run that is due. Returns what cuts it off. */
  const beginCall = (
    run: StartedRun,
    execution: Execution,
    { call_options, retry_count, timeout_seconds }: RunCall,
    begin: ReadyCall["begin"],
    onEnd: OnEnd
  ): (() => void) => {
    const started_ms = startedAt(run, execution)
    const settlementFor = (answer: CallResult) => {
      const called = { ...run, retry_count, call_options, timeout_seconds, started_ms }
      const result = classifyResult(answer, called, random.nextDoubleUnsafe())
      return endOf(run, execution, { ...answer, ...result })
    }
    return begin((exit) =>
      onEnd(
        Exit.isFailure(exit) ? Exit.failCause(exit.cause) : exitOf(() => settlementFor(exit.value))
      )
    )
  }

  const makeCall = (
    run: StartedRun,
    execution: Execution,
    secrets: ReadonlyArray<Redacted.Redacted>,
    given: Result.Result<RunCall, ExecutionError>,
    onEnd: OnEnd
  ): (() => void) => {
    startedAt(run, execution)
    const call = secrets.length === 0 ? Result.fail(cannotSign) : given
    if (Result.isFailure(call)) {
      onEnd(Exit.succeed(endOf(run, execution, { status: "failed", error: call.failure })))
      return () => {}
    }
    const request = exitOf(() => requestOf(run, execution, secrets, call.success))
    if (Exit.isFailure(request)) {
      onEnd(Exit.failCause(request.cause))
      return () => {}
    }
    return beginCall(run, execution, call.success, (end) => calls.begin(request.value, end), onEnd)
  }

  /** Undefined if the call is made only when its time has come. */
  const makeReady = (
    run: StartedRun,
    execution: Execution,
    secrets: ReadonlyArray<Redacted.Redacted>,
    early: number
  ) => {
    const { call, withheld } = run
    if (call === null || withheld > 0 || secrets.length === 0) return undefined
    const due = { atMs: run.due_ms, inMillis: early }
    const ready = exitOf(() =>
      calls.makeReady(requestOf(run, execution, secrets, call), due, execution.connectsAhead)
    )
    return Exit.isSuccess(ready) ? { ...ready.value, call } : undefined
  }

  return { beginCall, makeCall, makeReady }
})

const startedAt = (run: StartedRun, execution: Execution): number =>
  (execution.started_ms ??= Math.max(execution.clock.now(), run.due_ms))

const requestOf = (
  run: StartedRun,
  { completionUrls, traceparent }: Execution,
  secrets: ReadonlyArray<Redacted.Redacted>,
  { call_options, retry_count: _, ...request }: RunCall
): CallRequest => ({
  ...request,
  timeout_seconds: Math.min(request.timeout_seconds, maxAnswerSeconds),
  success: call_options,
  workspace_id: run.workspace_id,
  execution_id: run.id,
  attempt: run.attempt,
  task: { id: run.task_id, scheduled_ms: run.scheduled_ms },
  signing: { purpose: "call", secrets },
  ...(traceparent !== undefined && { traceparent }),
  ...(asksForCallback(call_options) && { complete_url: completionUrls.make(run) })
})

const prepare = Effect.fnUntraced(function* (run: StartedRun, execution: Execution, early: number) {
  // Timers count whole milliseconds and may fire up to one early.
  if (early > 0) yield* Effect.sleep(Math.ceil(early))
  return run.withheld === 0 ? givenCall(run) : yield* loadCall(run, execution)
})

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

const givenCall = ({ call }: StartedRun): Result.Result<RunCall, ExecutionError> =>
  call === null ? Result.fail(noCall) : Result.succeed(call)
