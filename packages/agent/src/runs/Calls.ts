import { Call } from "@scheduling/calls/Call"
import type { CallResult } from "@scheduling/calls/CallResult"
import type { WorkerCall } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect, Exit, LogLevel } from "effect"
import { type Answer, answerOf, cutOffAnswer, returnedAnswer } from "./answers.ts"
import type { Held } from "./Held.ts"

export interface Calls {
  /** Makes the calls of runs for which there is a slot. */
  readonly beginAll: () => void
  /** Cuts a call off, or ends a run whose call has not begun. */
  readonly cancel: (id: WorkerCall["run_id"]) => void
  /** Gives back the runs that have waited for a slot since then. */
  readonly giveBack: (sinceMs: number) => void
  readonly made: () => number
}

interface CallsOptions {
  readonly held: Held
  /** On a clock that is never set. */
  readonly nowMs: () => number
  readonly onResult: () => void
}

/** Makes the calls of the runs that are held, and says each time that there is a result. */
export const makeCalls = Effect.fnUntraced(function* ({
  held,
  nowMs,
  onResult
}: CallsOptions): Effect.fn.Return<Calls, never, Call> {
  const call = yield* Call
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  let made = 0
  let isBeginning = false

  const tellsCalls = yield* LogLevel.isEnabled("Info")
  /** Calls that end in the same turn of the event loop are told by one fiber. */
  const told: Array<Effect.Effect<void>> = []
  const tellCalls = Effect.andThen(
    Effect.yieldNow,
    Effect.suspend(() => Effect.all(told.splice(0), { discard: true }))
  )

  const end = (given: WorkerCall, startedMs: number, exit: Exit.Exit<CallResult>) => {
    const { lease, run_id } = given
    const endedAtMs = nowMs()
    const duration_ms = Math.round(endedAtMs - startedMs)
    const result: Answer = Exit.isSuccess(exit)
      ? answerOf(exit.value)
      : { ...cutOffAnswer, duration_ms }
    held.end({ ...result, lease, run_id, endedAtMs })
    made++
    onResult()
    beginAll()
    if (!tellsCalls) return
    const how = result.status_code ?? result.error?.message ?? result.outcome
    told.push(
      Effect.logInfo(
        // Queries may hold secrets.
        `${given.method} ${given.url.split(/[?#]/, 1)[0]}: ${how} in ${duration_ms} ms`
      ).pipe(Effect.annotateLogs({ run: run_id, attempt: given.attempt }))
    )
    if (told.length === 1) runFork(tellCalls)
  }

  /** Of no fiber, because a call goes on while the agent drains. */
  const begin = (given: WorkerCall) => {
    const startedMs = nowMs()
    let hasEnded = false
    const cutOff = call.begin(
      { ...given, workspace_id: "", execution_id: given.run_id },
      (exit) => {
        hasEnded = true
        end(given, startedMs, exit)
      }
    )
    if (!hasEnded) held.begin(given.run_id, cutOff)
  }

  /** A loop, because a call that ends at once makes room for the next, hundreds deep. */
  const beginAll = () => {
    if (isBeginning) return
    isBeginning = true
    for (let next = held.next(); next !== undefined; next = held.next()) begin(next)
    isBeginning = false
  }

  return {
    beginAll,
    cancel: (id) => {
      const isWaiting = held.dismiss(id, { ...cutOffAnswer, duration_ms: 0, endedAtMs: nowMs() })
      if (isWaiting) onResult()
      else held.cutOff(id)
    },
    giveBack: (sinceMs) => {
      if (held.giveBack(sinceMs, { ...returnedAnswer, endedAtMs: nowMs() })) onResult()
    },
    made: () => made
  }
})
