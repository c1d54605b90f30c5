import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"

/** The result of a finished call. */
export interface CallResult {
  readonly status_code: number | null
  /** The beginning of the response body, up to `keep_bytes` of the request. */
  readonly response_body: string | null
  /** Null if the call succeeded. */
  readonly error: ExecutionError | null
  /** Set only if `outcome` is `retryable` and the response has `Retry-After`. */
  readonly retry_after_seconds: number | null
  readonly outcome: "success" | "retryable" | "failed"
  /** True if the response says that the job continues and will report to its completion URL. */
  readonly completes_later: boolean
  /** Null if no request was sent. */
  readonly exchange: ExchangeDetails | null
  readonly duration_ms: number
}

/**
 * Details of an exchange. Times are in milliseconds. The connection times are null if the
 * connection was reused. `wait_ms`, the time from sending the request to the first byte of the
 * response, is null if no byte arrived.
 */
export interface ExchangeDetails {
  readonly dns_ms: number | null
  readonly connect_ms: number | null
  readonly tls_ms: number | null
  readonly wait_ms: number | null
  /** The response headers, one per line: see `ResponseHeaders`. Null without a response. */
  readonly headers: string | null
}

/** The response to a call, or the reason why there is none. */
export type ResponseOrFailure = Omit<CallResult, "duration_ms">
