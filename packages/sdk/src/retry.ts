const firstDelayMs = 500
const maxDelayMs = 8_000

/** A wait that the service asks for is kept up to here; a longer one is the caller's to plan. */
const maxRetryAfterMs = 30_000

/** How an attempt failed. */
export type Failure =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: "timeout" }
  | { readonly kind: "connection"; readonly cause: unknown }

export interface Attempt {
  /** From 0. */
  readonly number: number
  /** However often the request arrives it does its work once. */
  readonly isRepeatable: boolean
  readonly now: number
  /** 0 to 1 */
  readonly random: number
}

const repeatableVerbs = new Set(["GET", "HEAD", "PUT", "DELETE"])

/** By its method, or by its key. A PATCH is not: between its attempts somebody else may write. */
export const isRepeatable = (verb: string, idempotencyKey: string | undefined): boolean =>
  idempotencyKey !== undefined || repeatableVerbs.has(verb)

/** How long to wait before another attempt, or undefined where there must be none. */
export const retryDelayMs = (failure: Failure, attempt: Attempt): number | undefined => {
  if (!mayRetry(failure, attempt.isRepeatable)) return undefined
  const ceiling = Math.min(firstDelayMs * 2 ** attempt.number, maxDelayMs)
  const delay = ceiling * (0.5 + attempt.random / 2)
  const asked = failure.kind === "answer" ? parseRetryAfter(failure.retryAfter, attempt.now) : 0
  return asked > maxRetryAfterMs ? undefined : Math.max(asked, delay)
}

const mayRetry = (failure: Failure, repeatable: boolean): boolean => {
  switch (failure.kind) {
    case "answer":
      // 408 and 429: the service did nothing yet, so even what is not repeatable may come again.
      return (
        failure.status === 408 || failure.status === 429 || (repeatable && failure.status >= 500)
      )
    case "timeout":
      return repeatable
    case "connection":
      return repeatable || neverLeft(failure.cause)
  }
}

/** What runtimes call it when there was no connection to send anything on. */
const unconnected = new Set<unknown>([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused"
])

/** `fetch` throws a TypeError whose cause, or that one's, has the code. */
const neverLeft = (cause: unknown): boolean =>
  cause instanceof Error &&
  (("code" in cause && unconnected.has(cause.code)) || neverLeft(cause.cause))

/** Seconds or an HTTP date (RFC 9110), in milliseconds from now; 0 where there is neither. */
const parseRetryAfter = (header: string | undefined, now: number): number => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
