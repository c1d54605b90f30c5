import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { DbClock } from "../../src/runner/DbClock.ts"

/** A process whose monotonic time the test sets, beside a database whose clock is ahead of it. */
const scripted = () => {
  let elapsedMs = 1_000
  const clock = new DbClock({
    ...Clock.Clock.defaultValue(),
    monotonicTimeNanosUnsafe: () => BigInt(Math.round(elapsedMs * 1e6))
  })
  return {
    pass: (ms: number) => {
      elapsedMs += ms
    },
    /** By how much the database seems to be ahead. */
    aheadMs: () => clock.now() - elapsedMs,
    /** A statement that takes so long each way. */
    sample: ({ aheadMs, thereMs, backMs }: { aheadMs: number; thereMs: number; backMs: number }) =>
      Effect.runSync(
        clock.sample(
          Effect.sync(() => {
            elapsedMs += thereMs
            const now_ms = elapsedMs + aheadMs
            elapsedMs += backMs
            return { now_ms }
          })
        )
      )
  }
}

const quick = { thereMs: 0.1, backMs: 0.1 }
const slow = { thereMs: 2, backMs: 8 }

describe("the database's clock", () => {
  it("is that of the best sample, whatever slower ones say", () => {
    const { aheadMs, pass, sample } = scripted()
    sample({ aheadMs: 5_000, ...quick })
    for (let n = 0; n < 20; n++) {
      pass(500)
      sample({ aheadMs: 5_000, ...slow })
      assert.closeTo(aheadMs(), 5_000, 0.1)
    }
  })

  it.each([
    ["ahead of", 5_300],
    ["behind", 4_700],
    ["an hour behind", -3_595_000]
  ])("is believed at once when another server takes over that is %s it", (_, stepped) => {
    const { aheadMs, pass, sample } = scripted()
    sample({ aheadMs: 5_000, ...quick })
    pass(1_000)
    sample({ aheadMs: stepped, ...slow })
    assert.closeTo(aheadMs(), stepped, 5)
    // And as exactly as before by the next good answer.
    pass(500)
    sample({ aheadMs: stepped, ...quick })
    assert.closeTo(aheadMs(), stepped, 0.1)
  })

  it("follows a clock that drifts", () => {
    const { aheadMs, pass, sample } = scripted()
    for (let second = 0; second < 600; second++) {
      sample({ aheadMs: 5_000 + second * 0.05, ...quick })
      assert.closeTo(aheadMs(), 5_000 + second * 0.05, 0.5)
      pass(1_000)
    }
  })
})
