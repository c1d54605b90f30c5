import type { Clock } from "effect"

/** For how long, and never back: the time of day may be set. */
export const elapsedMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6
