import type { CallResult } from "@scheduling/calls/CallResult"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import type { RunCall, StartedRun } from "../Run.ts"
import { retryDelayMs } from "./retryDelayMs.ts"

/** Decides what follows a call: a result, another attempt, or the wait for a completion. */
export const classifyResult = (
  answer: Pick<CallResult, "outcome" | "retry_after_seconds" | "completes_later">,
  run: Pick<StartedRun, "attempt" | "lost"> &
    Pick<RunCall, "retry_count" | "call_options" | "timeout_seconds"> & {
      readonly started_ms: number
    },
  random: number
) => {
  const { retry_after_seconds } = answer
  if (jobContinues(answer, run.call_options)) {
    const completes_by_ms = run.started_ms + run.timeout_seconds * 1_000
    return { status: null, retry_delay_ms: null, completes_by_ms } as const
  }
  const failures = run.attempt - run.lost
  const retry_delay_ms =
    answer.outcome === "retryable"
      ? retryDelayMs(
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
  return { status, retry_delay_ms, completes_by_ms: null } as const
}

const jobContinues = (
  { completes_later, outcome }: Pick<CallResult, "outcome" | "completes_later">,
  options: CallOptions | null
) =>
  outcome === "success" &&
  (options?.completion === "callback" || (options?.completion === "auto" && completes_later))
