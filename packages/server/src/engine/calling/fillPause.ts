import { maxStepWaitSeconds } from "@scheduling/domain/chains/ChainStep"
import { valuesUsedByText } from "@scheduling/domain/calls/TemplateCall"
import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { isTimeWithOffset } from "@scheduling/domain/shared/Timestamp"
import { renderText } from "@scheduling/calls/renderCall"
import { templateValuesOf } from "@scheduling/calls/templateValues"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { type Pause, pauseText } from "../chains/ChainVersions.ts"
import type { RunPause, Settlement, StartedRun } from "../Run.ts"
import {
  failWithoutCall,
  type CallProblem,
  emptyTaskDetails,
  readTaskDetails,
  type StepValues
} from "./fillCall.ts"

/** A step that makes no call, with the data that was read with it. */
export interface LoadedPauseStep {
  readonly pause: Pause
  readonly step: StepValues
}

/** The result of beginning a step that makes no call: the step has finished, or it waits. */
export interface FilledPause {
  readonly pauseEnd: Pick<Settlement, "status" | "error" | "completes_by_ms" | "pause">
}

/** Fills in the values of a step that makes no call, and decides how long it waits. */
export const makeFillPause = Effect.map(SqlClient.SqlClient, (sql) => {
  const fillText = Effect.fnUntraced(function* (
    run: StartedRun,
    { kind }: Pause,
    source: string,
    { answers, input }: StepValues,
    now_ms: number
  ) {
    const used = valuesUsedByText(source)
    const { attempt, position, scheduled_ms } = run
    const values = templateValuesOf({
      run: { id: position?.chain_run_id ?? run.id, attempt, scheduled_ms },
      task: used.task ? yield* readTaskDetails(sql, run) : emptyTaskDetails,
      input,
      steps: answers,
      secrets: new Map(),
      now_ms
    })
    return renderText(kind === "wait" ? "until" : "message", source, values)
  })

  return Effect.fnUntraced(function* (
    run: StartedRun,
    { pause, step }: LoadedPauseStep,
    now_ms: number
  ): Effect.fn.Return<FilledPause | Result.Result<never, CallProblem>> {
    const source = pauseText(pause)
    const text =
      source === null ? Result.succeed(null) : yield* fillText(run, pause, source, step, now_ms)
    if (Result.isFailure(text)) return invalidTemplate(text.failure)
    if (pause.kind === "approve") {
      const { approvers, channel_ids, timeout_seconds } = pause
      const message = text.success
      const approval = { kind: "approve", message, channel_ids, approvers } as const
      return waitUntil(now_ms + timeout_seconds * 1_000, approval, now_ms)
    }
    if (text.success === null) {
      const ends_ms = now_ms + (pause.seconds ?? 0) * 1_000
      return waitUntil(ends_ms, { kind: "wait", until: null }, now_ms)
    }
    if (!isTimeWithOffset(text.success)) {
      return invalidTemplate(`until is not an ISO 8601 time with Z or an offset: ${text.success}`)
    }
    const untilMs = Date.parse(text.success)
    return waitUntil(untilMs, { kind: "wait", until: new Date(untilMs).toISOString() }, now_ms)
  })
})

const waitUntil = (
  untilMs: number,
  pause: RunPause,
  nowMs: number
): FilledPause | Result.Result<never, CallProblem> => {
  if (untilMs > nowMs + maxStepWaitSeconds * 1_000)
    return invalidTemplate("until is more than 90 days ahead")
  return {
    pauseEnd:
      untilMs <= nowMs
        ? { status: "succeeded", error: null, completes_by_ms: null, pause: null }
        : { status: null, error: null, completes_by_ms: untilMs, pause }
  }
}

export const isPause = (
  filled: FilledPause | Result.Result<unknown, CallProblem>
): filled is FilledPause => !Result.isResult(filled)

const invalidTemplate = (message: string) =>
  failWithoutCall(executionError("invalid_template", message))
