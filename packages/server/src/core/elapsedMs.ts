import type { Clock } from "effect"

/** Returns monotonic time, for measuring durations. The time of day may be changed. */
export const elapsedMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6
