import type { Clock } from "effect"

/** Monotonic time for measuring durations. The time of day may be set. */
export const elapsedMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6
