const firstDelayMs = 500
const maxDelayMs = 8_000

/** A `Retry-After` up to this is respected. A longer wait is left to the program. */
const maxRetryAfterMs = 30_000

/** How an attempt failed. */
export type Failure =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: "timeout" }
  | { readonly kind: "connection"; readonly cause: unknown }

export interface RetryAttempt {
  /** From 0. */
  readonly number: number
  /** The request does its work once, however often it arrives. */
  readonly isRepeatable: boolean
  readonly now: number
  /** 0 to 1 */
  readonly random: number
}

const repeatableVerbs = new Set(["GET", "HEAD", "PUT", "DELETE"])

/**
 * Repeatable by its method or its key. A PATCH is not: somebody else may write between its
 * attempts.
 */
export const isRepeatable = (verb: string, idempotencyKey: string | undefined): boolean =>
  idempotencyKey !== undefined || repeatableVerbs.has(verb)

/** The time before another attempt, or undefined if there must be none. */
export const retryDelayMs = (failure: Failure, attempt: RetryAttempt): number | undefined => {
  if (!mayRetry(failure, attempt.isRepeatable)) return undefined
  const ceiling = Math.min(firstDelayMs * 2 ** attempt.number, maxDelayMs)
  const delay = ceiling * (0.5 + attempt.random / 2)
  const asked = failure.kind === "answer" ? parseRetryAfter(failure.retryAfter, attempt.now) : 0
  return asked > maxRetryAfterMs ? undefined : Math.max(asked, delay)
}

const mayRetry = (failure: Failure, repeatable: boolean): boolean => {
  switch (failure.kind) {
    case "answer":
      // With 408 and 429 the service has done nothing yet, so even a request that is not repeatable
      // may be sent again. A 409 asks for a repeat while the first request is still in progress.
      return (
        failure.status === 408 ||
        failure.status === 429 ||
        (repeatable && failure.status >= 500) ||
        (repeatable && failure.status === 409 && failure.retryAfter !== undefined)
      )
    case "timeout":
      return repeatable
    case "connection":
      return repeatable || neverLeft(failure.cause)
  }
}

/** The codes of runtimes for "no connection could be made". */
const unconnected = new Set<unknown>([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused"
])

/** `fetch` throws a TypeError. The code is in its cause, or in the cause of that. */
const neverLeft = (cause: unknown): boolean =>
  cause instanceof Error &&
  (("code" in cause && unconnected.has(cause.code)) || neverLeft(cause.cause))

/**
 * Reads seconds or an HTTP date (RFC 9110). Returns milliseconds from now, or 0 if it is neither.
 */
const parseRetryAfter = (header: string | undefined, now: number): number => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
