import { Clock, Effect } from "effect"

/** Creates a clock whose time of day can be set. Its monotonic time is real. */
export const offsetClock = (initialMs = 0) => {
  let offsetMs = initialMs
  const real = Clock.Clock.defaultValue()
  const currentTimeMillisUnsafe = () => real.currentTimeMillisUnsafe() + offsetMs
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanosUnsafe: () => BigInt(currentTimeMillisUnsafe()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(currentTimeMillisUnsafe()) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration)
  }
  return { clock, step: (ms: number) => Effect.sync(() => (offsetMs += ms)) }
}
