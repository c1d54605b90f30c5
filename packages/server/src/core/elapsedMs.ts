import type { Clock } from "effect"

/** Returns monotonic milliseconds, for measuring durations: the wall clock may be adjusted. */
export const elapsedMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6
