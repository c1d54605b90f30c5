import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"

/** How a call ended. */
export interface CallResult {
  readonly status_code: number | null
  /** The first bytes, as many as are kept. */
  readonly response_body: string | null
  /** Null if the outcome is a success. */
  readonly error: ExecutionError | null
  /** Only on a retryable outcome. */
  readonly retry_after_seconds: number | null
  readonly outcome: "success" | "retryable" | "failed"
  /** The answer says that the job goes on after it. */
  readonly completes_later: boolean
  readonly duration_ms: number
}

/** The result of a call: the answer, or the reason why there is none. */
export type Answer = Omit<CallResult, "duration_ms">
