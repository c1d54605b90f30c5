/** The longest that the service holds an answer. */
const longestMs = 30_000

/** For the way to the service and back, beyond the time that it holds the answer. */
export const spareMs = 15_000

/** It may answer sooner, when it stops or too many wait: then it is asked at most once a second. */
const paceMs = 1_000

/** For how long to ask it to hold the answer: whole seconds. */
export const askForMs = (leftMs: number): number =>
  Math.floor(Math.max(0, Math.min(leftMs, longestMs)) / 1_000) * 1_000

/** How long to wait between two questions, of which the first took so long. */
export const nextPauseMs = (tookMs: number, leftMs: number): number =>
  Math.max(0, Math.min(paceMs - tookMs, leftMs))
