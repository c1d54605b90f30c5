import type { CallResult } from "@scheduling/calls/CallResult"
import type { FinishedRun } from "./HeldRuns.ts"

/** The result of a call, without the run id and the time. */
export type CallOutcome = Omit<FinishedRun, "lease" | "run_id" | "finishedAtMs">

export const toCallOutcome = ({ completes_later, ...answer }: CallResult): CallOutcome => ({
  outcome: answer.outcome,
  status_code: answer.status_code,
  response_body: answer.response_body,
  error: answer.error,
  retry_after_seconds: answer.retry_after_seconds,
  duration_ms: answer.duration_ms,
  ...(completes_later && { completes_later: true }),
  ...(answer.exchange !== null && { exchange: answer.exchange })
})

export const abortedOutcome = {
  outcome: "cancelled",
  status_code: null,
  response_body: null,
  error: null,
  retry_after_seconds: null
} as const

/**
 * The result of a run that the agent returns to the service, so that another worker makes its call.
 */
export const returnedOutcome = { ...abortedOutcome, outcome: "returned", duration_ms: 0 } as const
