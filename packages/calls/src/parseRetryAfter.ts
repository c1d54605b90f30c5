/** The longest wait that a response can ask for. */
export const maxRetryAfterSeconds = 3_600

/**
 * Parses `Retry-After` to a number of seconds. RFC 9110 allows seconds or one of three forms of an
 * HTTP date, all of them in GMT.
 */
export const parseRetryAfter = (value: string | null, nowMillis: number): number | null => {
  if (value === null) return null
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), maxRetryAfterSeconds)
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null
  const date = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`)
  if (Number.isNaN(date)) return null
  const seconds = Math.ceil((date - nowMillis) / 1_000)
  return Math.min(Math.max(seconds, 0), maxRetryAfterSeconds)
}
