/** The maximum time that the service delays a response. */
const longestMs = 30_000

/** Extra time for the round trip, on top of the time that the service delays the response. */
export const spareMs = 15_000

/**
 * The service may respond early, if it stops or too many requests are waiting. It is then polled at
 * most once per second.
 */
const paceMs = 1_000

/** Returns how long the service should delay the response, in whole seconds. */
export const askForMs = (leftMs: number): number =>
  Math.floor(Math.max(0, Math.min(leftMs, longestMs)) / 1_000) * 1_000

/** Returns the pause between two requests, given the duration of the first. */
export const nextPauseMs = (tookMs: number, leftMs: number): number =>
  Math.max(0, Math.min(paceMs - tookMs, leftMs))
