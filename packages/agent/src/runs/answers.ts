import type { CallResult } from "@scheduling/calls/CallResult"
import type { Ending } from "./Held.ts"

/** What the service hears of a call, besides which it was and when it ended. */
export type Answer = Omit<Ending, "lease" | "run_id" | "endedAtMs">

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

/** Others may make the call. */
export const returnedAnswer = { ...cutOffAnswer, outcome: "returned", duration_ms: 0 } as const
