import type { Clock } from "effect"

/** Measures durations with a clock that never goes back. The time of day may be set. */
export const elapsedMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6
