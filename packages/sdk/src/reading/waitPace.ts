/** The maximum time that the service delays a response. */
const longestMs = 30_000

/** Extra time for the round trip, in addition to the delay that the service was asked for. */
export const roundTripAllowanceMs = 15_000

/**
 * The minimum interval between two requests. The service may respond early if it shuts down or if
 * too many requests are waiting.
 */
const paceMs = 1_000

/** Returns how long the service should delay the response, in whole seconds. */
export const serverWaitMs = (leftMs: number): number =>
  Math.floor(Math.max(0, Math.min(leftMs, longestMs)) / 1_000) * 1_000

/** Returns the pause before the next request. `tookMs` is the duration of the previous request. */
export const nextPauseMs = (tookMs: number, leftMs: number): number =>
  Math.max(0, Math.min(paceMs - tookMs, leftMs))
