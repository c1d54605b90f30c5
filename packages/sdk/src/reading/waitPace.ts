/** The longest that the service holds an answer. */
const longestMs = 30_000

/** Added for the way to the service and back, beyond the time that it holds the answer. */
export const spareMs = 15_000

/**
 * The service may answer early, when it stops or too many requests wait. Then it is asked at most
 * once per second.
 */
const paceMs = 1_000

/** For how long the service should hold the answer, in whole seconds. */
export const askForMs = (leftMs: number): number =>
  Math.floor(Math.max(0, Math.min(leftMs, longestMs)) / 1_000) * 1_000

/** The pause between two requests, given how long the first one took. */
export const nextPauseMs = (tookMs: number, leftMs: number): number =>
  Math.max(0, Math.min(paceMs - tookMs, leftMs))
