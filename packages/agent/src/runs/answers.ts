import type { CallResult } from "@scheduling/calls/CallResult"
import type { FinishedRun } from "./HeldRuns.ts"

/** The result of a call, without its run and its time. */
export type Answer = Omit<FinishedRun, "lease" | "run_id" | "finishedAtMs">

export const answerOf = ({ completes_later, ...answer }: CallResult): Answer => ({
  outcome: answer.outcome,
  status_code: answer.status_code,
  response_body: answer.response_body,
  error: answer.error,
  retry_after_seconds: answer.retry_after_seconds,
  duration_ms: answer.duration_ms,
  ...(completes_later && { completes_later: true })
})

export const cutOffAnswer = {
  outcome: "cancelled",
  status_code: null,
  response_body: null,
  error: null,
  retry_after_seconds: null
} as const

/** Another worker may make the call. */
export const returnedAnswer = { ...cutOffAnswer, outcome: "returned", duration_ms: 0 } as const
