import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import type { CallResult } from "@scheduling/calls/CallResult"
import { secretsMasker } from "@scheduling/calls/maskSecrets"
import type { WorkerCall } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect, Exit, LogLevel } from "effect"
import { type CallOutcome, toCallOutcome, abortedOutcome, returnedOutcome } from "./CallOutcome.ts"
import type { HeldRuns } from "./HeldRuns.ts"

/** Makes the calls of the held runs. */
export interface Calls {
  readonly beginAll: () => void
  /** Aborts a run's call, or finishes the run as aborted if its call has not started. */
  readonly cancel: (id: WorkerCall["run_id"]) => void
  /**
   * Returns to the service the runs that have been waiting for a slot since `sinceMs` or longer.
   */
  readonly returnWaiting: (sinceMs: number) => void
  readonly count: () => number
}

interface CallsOptions {
  readonly runs: HeldRuns
  readonly nowMs: () => number
  readonly onResult: () => void
}

/** Creates the object that makes the held runs' calls. `onResult` is called after each result. */
export const makeCalls = Effect.fnUntraced(function* ({
  runs,
  nowMs,
  onResult
}: CallsOptions): Effect.fn.Return<Calls, never, OutgoingCalls> {
  const call = yield* OutgoingCalls
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  let finished = 0
  let isBeginning = false

  const logsCalls = yield* LogLevel.isEnabled("Info")
  /** This event loop iteration's log entries, which one fiber writes together. */
  const logs: Array<Effect.Effect<void>> = []
  const writeLogs = Effect.andThen(
    Effect.yieldNow,
    Effect.suspend(() => Effect.all(logs.splice(0), { discard: true }))
  )

  const finish = (given: WorkerCall, startedMs: number, exit: Exit.Exit<CallResult>) => {
    const { lease, run_id } = given
    const finishedAtMs = nowMs()
    const duration_ms = Math.round(finishedAtMs - startedMs)
    const result: CallOutcome = Exit.isSuccess(exit)
      ? toCallOutcome(exit.value)
      : { ...abortedOutcome, duration_ms }
    runs.finish({ ...result, lease, run_id, finishedAtMs })
    finished++
    onResult()
    beginAll()
    if (!logsCalls) return
    const withoutSecrets = secretsMasker(given.secrets ?? [])
    const how = result.status_code ?? result.error?.message ?? result.outcome
    logs.push(
      Effect.logInfo(
        // Query strings can contain secrets.
        `${given.method} ${withoutSecrets(given.url.split(/[?#]/, 1)[0] ?? "")}: ${how} in ${duration_ms} ms`
      ).pipe(Effect.annotateLogs({ run: run_id, attempt: given.attempt }))
    )
    if (logs.length === 1) runFork(writeLogs)
  }

  /** Starts a call outside the session's fibers, so that it continues while the agent drains. */
  const begin = (given: WorkerCall) => {
    const startedMs = nowMs()
    let hasFinished = false
    const cutOff = call.begin(
      { ...given, workspace_id: "", execution_id: given.run_id },
      (exit) => {
        hasFinished = true
        finish(given, startedMs, exit)
      }
    )
    if (!hasFinished) runs.begin(given.run_id, cutOff)
  }

  /**
   * Starts calls in a loop. With recursion, calls that finish immediately would nest hundreds of
   * levels deep.
   */
  const beginAll = () => {
    if (isBeginning) return
    isBeginning = true
    for (let next = runs.next(); next !== undefined; next = runs.next()) begin(next)
    isBeginning = false
  }

  return {
    beginAll,
    cancel: (id) => {
      const isWaiting = runs.dismiss(id, {
        ...abortedOutcome,
        duration_ms: 0,
        finishedAtMs: nowMs()
      })
      if (isWaiting) onResult()
      else runs.cutOff(id)
    },
    returnWaiting: (sinceMs) => {
      if (runs.returnWaiting(sinceMs, { ...returnedOutcome, finishedAtMs: nowMs() })) onResult()
    },
    count: () => finished
  }
})
