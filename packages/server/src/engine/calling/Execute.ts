import { Effect, Exit, type Fiber, Random, type Redacted, Result, type Semaphore } from "effect"
import type { SqlClient } from "effect/sql"
import type { ByteReservation } from "../leased-runs/ByteBudget.ts"
import { OutgoingCalls, catchAsDefect, type PreparedCall } from "@scheduling/calls/OutgoingCalls"
import type { CallRequest } from "@scheduling/calls/CallRequest"
import type { CallResult } from "@scheduling/calls/CallResult"
import { maxResponseSeconds } from "@scheduling/domain/calls/CallOptions"
import { hasCompletionUrl, type CompletionUrls } from "../completions/CompletionUrls.ts"
import type { DatabaseClockEstimate } from "../../store/index.ts"
import {
  failWithoutCall,
  fillSynchronously,
  type FilledCall,
  type CallValues,
  type LoadedCall,
  makeCountCallProblem,
  makeFillCall,
  type CallProblem
} from "./fillCall.ts"
import { loadCall, missingCallFailure } from "./LoadCall.ts"
import { isPause, type LoadedPauseStep, makeFillPause } from "./fillPause.ts"
import { AccessTokens } from "../secrets/AccessTokens.ts"
import type { CallSecrets } from "../secrets/CallSecrets.ts"
import { signingError } from "../signing/SigningSecrets.ts"
import { classifyResult } from "./classifyResult.ts"
import { type RunCall, type Settlement, makeSettlement, type StartedRun } from "../Run.ts"

/** The node that executes a run, and the resources it uses. */
export interface ExecutionContext {
  readonly node: number
  readonly clock: DatabaseClockEstimate
  readonly allowance: ByteReservation
  readonly loads: Semaphore.Semaphore
  /** When the attempt started. Null until the run is due. */
  started_ms: number | null
  /** The `traceparent` header of the call. Undefined if tracing is off. */
  readonly traceparent: string | undefined
  readonly completionUrls: CompletionUrls["Service"]
  /** Whether a connection is opened before the run is due. */
  readonly connectsAhead: boolean
  /** Returns whether this node may still send the call. */
  readonly maySend: () => boolean
}

type OnEnd = (end: Exit.Exit<Settlement>) => void

/** A run that is being executed. */
export interface RunningExecution {
  /** Aborts the execution, whatever stage it has reached. */
  readonly cutOff: () => void
  /** The fiber that waits until the run is due or reads its call. Null if neither is needed. */
  readonly preparing: Fiber.Fiber<unknown> | null
}

/**
 * Executes a run: makes its call when it is due, and decides what follows. `onEnd` is called once,
 * with the result.
 *
 * 1. If the run is due, and its call and secrets are available, the call is made immediately
 *    (`makeCall`). No fiber is used, because a fiber would cost a twentieth of a run's time.
 * 2. If the run is early and its call is known, `makeReady` prepares the request.
 * 3. Otherwise, and for early runs, a fiber waits until the run is due, reads its call, and fills
 *    in its values (`prepare`). Then the prepared request begins (`beginCall`), or the call is made
 *    (`makeCall`).
 * 4. If the server rejects an access token with a 401, the call is made once more with a new token
 *    (`callAgain`).
 *
 * A step that makes no call ends immediately or makes its run wait (`fillPause.ts`).
 */
export const makeExecute = Effect.gen(function* () {
  const runFork = Effect.runForkWith(
    yield* Effect.context<SqlClient.SqlClient | CallSecrets | AccessTokens>()
  )
  const { beginCall, makeCall, makeReady } = yield* makeCalling
  const fillCall = yield* makeFillCall
  const countProblem = yield* makeCountCallProblem
  const fillPause = yield* makeFillPause
  const tokens = yield* AccessTokens

  /** Waits until a run is due, reads its call unless it is given, and fills in its values. */
  const prepare = Effect.fnUntraced(function* (run: StartedRun, execution: ExecutionContext) {
    const early = run.due_ms - execution.clock.now()
    // Timers have millisecond precision and may fire up to a millisecond early.
    if (early > 0) yield* Effect.sleep(Math.ceil(early))
    const loaded: Result.Result<LoadedCall | LoadedPauseStep, CallProblem> =
      run.withheld === 0 ? inlineCall(run) : yield* loadCall(run, execution)
    if (Result.isFailure(loaded)) return Result.fail(loaded.failure)
    const now_ms = startedAt(run, execution)
    return "call" in loaded.success
      ? yield* fillCall(run, loaded.success, now_ms)
      : yield* fillPause(run, loaded.success, now_ms)
  })

  return (
    run: StartedRun,
    execution: ExecutionContext,
    signWith: ReadonlyArray<Redacted.Redacted>,
    filling: CallValues | undefined,
    onEnd: OnEnd
  ): RunningExecution => {
    const early = run.due_ms - execution.clock.now()
    const isWritten = filling === undefined
    if (early <= 0 && run.withheld === 0) {
      const given = isWritten
        ? Result.map(inlineCall(run), asWritten)
        : run.call &&
          filling &&
          fillSynchronously(run, run.call, filling, startedAt(run, execution))
      if (given) {
        if (Result.isFailure(given)) countProblem(given.failure)
        return { cutOff: makeCall(run, execution, signWith, given, onEnd), preparing: null }
      }
    }
    const ready = early > 0 && isWritten ? makeReady(run, execution, signWith, early) : undefined
    let cutOff = () => {}

    /**
     * Runs an effect in a fiber. `then` receives its result, begins the call or ends the run
     * without one, and returns the function that aborts it.
     */
    const fork = <A>(
      effect: Effect.Effect<A, never, SqlClient.SqlClient>,
      then: (prepared: A) => () => void
    ) => {
      const fiber = runFork(effect)
      cutOff = () => fiber.interruptUnsafe()
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) cutOff = then(exit.value)
        else {
          ready?.drop()
          onEnd(Exit.failCause(exit.cause))
        }
      })
      return fiber
    }

    const callAgain = (refused: FilledCall) => {
      const { token } = refused
      if (token === undefined) return undefined
      return () => {
        fork(
          Effect.andThen(tokens.reject(run.workspace_id, token), prepare(run, execution)),
          (filled) =>
            makeCall(run, execution, signWith, isPause(filled) ? missingCallFailure : filled, onEnd)
        )
      }
    }

    const preparing = fork(prepare(run, execution), (filled) => {
      if (isPause(filled)) {
        onEnd(catchAsDefect(() => settlementOfExecution(run, execution, filled.pauseEnd)))
        return () => {}
      }
      if (ready !== undefined) return beginCall(run, execution, ready.call, ready.begin, onEnd)
      const again = Result.isSuccess(filled) ? callAgain(filled.success) : undefined
      return makeCall(run, execution, signWith, filled, onEnd, again)
    })
    return { cutOff: () => cutOff(), preparing }
  }
})

/** The steps of making a call. None of them needs a fiber. */
const makeCalling = Effect.gen(function* () {
  const calls = yield* OutgoingCalls
  const random = yield* Random.Random

  /** Begins the call of a due run. Returns a function that aborts it. */
  const beginCall = (
    run: StartedRun,
    execution: ExecutionContext,
    { call_options, retry_count, timeout_seconds }: RunCall,
    begin: PreparedCall["begin"],
    onEnd: OnEnd,
    onUnauthorized?: () => void
  ): (() => void) => {
    const started_ms = startedAt(run, execution)
    const settlementFor = (answer: CallResult) => {
      const called = { ...run, retry_count, call_options, timeout_seconds, started_ms }
      const result = classifyResult(answer, called, random.nextDoubleUnsafe())
      return settlementOfExecution(run, execution, { ...answer, ...result })
    }
    return begin((exit) => {
      if (Exit.isFailure(exit)) return onEnd(Exit.failCause(exit.cause))
      if (onUnauthorized !== undefined && exit.value.status_code === 401) return onUnauthorized()
      onEnd(catchAsDefect(() => settlementFor(exit.value)))
    })
  }

  /** Returns the settlement of a run whose call cannot be made. */
  const endWithout = (
    run: StartedRun,
    execution: ExecutionContext,
    problem: CallProblem
  ): Settlement => {
    const started_ms = startedAt(run, execution)
    return settlementOfExecution(
      run,
      execution,
      resultWithoutCall(run, problem, started_ms, random.nextDoubleUnsafe())
    )
  }

  const makeCall = (
    run: StartedRun,
    execution: ExecutionContext,
    signWith: ReadonlyArray<Redacted.Redacted>,
    filled: Result.Result<FilledCall, CallProblem>,
    onEnd: OnEnd,
    onUnauthorized?: () => void
  ): (() => void) => {
    startedAt(run, execution)
    const given = signWith.length === 0 ? failWithoutCall(signingError) : filled
    if (Result.isFailure(given)) {
      onEnd(catchAsDefect(() => endWithout(run, execution, given.failure)))
      return () => {}
    }
    const { call, secrets } = given.success
    const request = catchAsDefect(() => requestOf(run, execution, signWith, call, secrets))
    if (Exit.isFailure(request)) {
      onEnd(Exit.failCause(request.cause))
      return () => {}
    }
    const begin: PreparedCall["begin"] = (end) => calls.begin(request.value, end)
    return beginCall(run, execution, call, begin, onEnd, onUnauthorized)
  }

  /**
   * Prepares the request of an early run. Returns undefined if the call can only be made once the
   * run is due.
   */
  const makeReady = (
    run: StartedRun,
    execution: ExecutionContext,
    signWith: ReadonlyArray<Redacted.Redacted>,
    early: number
  ) => {
    const { call, withheld } = run
    if (call === null || withheld > 0 || signWith.length === 0) return undefined
    const due = { atMs: run.due_ms, inMillis: early }
    const ready = catchAsDefect(() =>
      calls.makeReady(requestOf(run, execution, signWith, call), due, execution.connectsAhead)
    )
    return Exit.isSuccess(ready) ? { ...ready.value, call } : undefined
  }

  return { beginCall, makeCall, makeReady }
})

/** Decides what follows if the call cannot be made: another attempt, or the final result. */
export const resultWithoutCall = (
  run: StartedRun,
  { error, retries }: CallProblem,
  started_ms: number,
  random: number
) => {
  if (retries === null) return { status: "failed", error } as const
  const failure = {
    outcome: "retryable",
    retry_after_seconds: null,
    completes_later: false
  } as const
  return { ...classifyResult(failure, { ...run, ...retries, started_ms }, random), error }
}

const startedAt = (run: StartedRun, execution: ExecutionContext): number =>
  (execution.started_ms ??= Math.max(execution.clock.now(), run.due_ms))

const requestOf = (
  run: StartedRun,
  { completionUrls, maySend, traceparent }: ExecutionContext,
  signWith: ReadonlyArray<Redacted.Redacted>,
  { call_options, retry_count: _, ...request }: RunCall,
  secrets: ReadonlyArray<string> = []
): CallRequest => ({
  ...request,
  ...(secrets.length > 0 && { secrets }),
  timeout_seconds: Math.min(request.timeout_seconds, maxResponseSeconds),
  success: call_options,
  maySend,
  workspace_id: run.workspace_id,
  execution_id: run.id,
  attempt: run.attempt,
  task: { id: run.task_id, scheduled_ms: run.scheduled_ms },
  signing: { purpose: "call", secrets: signWith },
  ...(traceparent !== undefined && { traceparent }),
  ...(hasCompletionUrl(call_options) && { complete_url: completionUrls.make(run) })
})

/** The settlement of a run that this node executed, or was about to execute. */
export const settlementOfExecution = (
  run: StartedRun,
  { clock, node, started_ms }: ExecutionContext,
  end: Parameters<typeof makeSettlement>[2]
): Settlement =>
  makeSettlement(run, node, {
    ...end,
    started: started_ms !== null,
    started_ms,
    finished_ms: clock.now()
  })

const asWritten = ({ call }: { readonly call: RunCall }): FilledCall => ({ call, secrets: [] })

const inlineCall = ({ call }: StartedRun) =>
  call === null ? missingCallFailure : Result.succeed({ call })
