const firstDelayMs = 500
const maxDelayMs = 8_000

/**
 * The longest `Retry-After` that the client waits for. If the service requests a longer delay, the
 * call throws its error, and the caller decides when to retry.
 */
const maxRetryAfterMs = 30_000

/** Why an attempt failed. */
export type Failure =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: "timeout" }
  | { readonly kind: "connection"; readonly cause: unknown }

export interface RetryAttempt {
  /** The zero-based number of the attempt. */
  readonly number: number
  /** True if repeating the request does not repeat the work. */
  readonly isRepeatable: boolean
  readonly now: number
  /** A random number from 0 to 1. */
  readonly random: number
}

const repeatableVerbs = new Set(["GET", "HEAD", "PUT", "DELETE"])

/**
 * Returns true if the method or the idempotency key makes the request safe to repeat. A PATCH is
 * not safe, because another client may write between two attempts.
 */
export const isRepeatable = (verb: string, idempotencyKey: string | undefined): boolean =>
  idempotencyKey !== undefined || repeatableVerbs.has(verb)

/** Returns the delay before the next attempt, or undefined if the request must not be retried. */
export const retryDelayMs = (failure: Failure, attempt: RetryAttempt): number | undefined => {
  if (!mayRetry(failure, attempt.isRepeatable)) return undefined
  const ceiling = Math.min(firstDelayMs * 2 ** attempt.number, maxDelayMs)
  const delay = ceiling * (0.5 + attempt.random / 2)
  const requestedMs =
    failure.kind === "answer" ? parseRetryAfter(failure.retryAfter, attempt.now) : 0
  return requestedMs > maxRetryAfterMs ? undefined : Math.max(requestedMs, delay)
}

const mayRetry = (failure: Failure, repeatable: boolean): boolean => {
  switch (failure.kind) {
    case "answer":
      // With 408 and 429 the service has not processed the request, so even non-idempotent requests
      // may be retried. A 409 with `Retry-After` means that the first request is still in progress.
      return (
        failure.status === 408 ||
        failure.status === 429 ||
        (repeatable && failure.status >= 500) ||
        (repeatable && failure.status === 409 && failure.retryAfter !== undefined)
      )
    case "timeout":
      return repeatable
    case "connection":
      return repeatable || wasNeverSent(failure.cause)
  }
}

/** Error codes of runtimes for a failed connection attempt. */
const connectionErrorCodes = new Set<unknown>([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused"
])

/**
 * Returns true if no connection was opened, so that the service did not receive the request.
 * `fetch` throws a TypeError. The error code is in its cause or in that cause's own cause.
 */
const wasNeverSent = (cause: unknown): boolean =>
  cause instanceof Error &&
  (("code" in cause && connectionErrorCodes.has(cause.code)) || wasNeverSent(cause.cause))

/**
 * Parses seconds or an HTTP date (RFC 9110). Returns milliseconds from now, or 0 if the header is
 * invalid.
 */
const parseRetryAfter = (header: string | undefined, now: number): number => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
