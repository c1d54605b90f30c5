import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"

/** The result of a finished call. */
export interface CallResult {
  readonly status_code: number | null
  /** The beginning of the body, up to `keep_bytes` of the request. */
  readonly response_body: string | null
  /** Null if the call succeeded. */
  readonly error: ExecutionError | null
  /** Set only if `outcome` is `retryable` and the answer has `Retry-After`. */
  readonly retry_after_seconds: number | null
  readonly outcome: "success" | "retryable" | "failed"
  /** True if the answer says that the job continues and reports to its completion URL later. */
  readonly completes_later: boolean
  /** Null if nothing was sent. */
  readonly exchange: ExchangeDetails | null
  readonly duration_ms: number
}

/**
 * How an exchange went. Times are in milliseconds. Those of connecting are null if the connection was
 * open already, and `wait_ms`, from sending the request to the first byte of the answer, if no byte
 * came.
 */
export interface ExchangeDetails {
  readonly dns_ms: number | null
  readonly connect_ms: number | null
  readonly tls_ms: number | null
  readonly wait_ms: number | null
  /** A line for each header of the answer: see `AnswerHeaders`. Null if no answer came. */
  readonly headers: string | null
}

/** The answer to a call, or the reason why there is none. */
export type Answer = Omit<CallResult, "duration_ms">
