import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger } from "effect"
import { DatabaseClockEstimate } from "../../src/store/DatabaseClock.ts"

/**
 * Creates a process whose monotonic time is set by the test, and a database whose clock is ahead.
 */
const scripted = () => {
  let elapsedMs = 1_000
  const clock = new DatabaseClockEstimate({
    ...Clock.Clock.defaultValue(),
    monotonicTimeNanosUnsafe: () => BigInt(Math.round(elapsedMs * 1e6))
  })
  const logs: Array<string> = []
  const capture = Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
  return {
    clock,
    logs,
    pass: (ms: number) => {
      elapsedMs += ms
    },
    /** Returns how far ahead the database's clock is, according to the estimate. */
    aheadMs: () => clock.now() - elapsedMs,
    /** Simulates a statement that takes this long in each direction. */
    sample: ({ aheadMs, thereMs, backMs }: { aheadMs: number; thereMs: number; backMs: number }) =>
      Effect.runSync(
        clock
          .sample(
            Effect.sync(() => {
              elapsedMs += thereMs
              const now_ms = elapsedMs + aheadMs
              elapsedMs += backMs
              return { now_ms }
            })
          )
          .pipe(Effect.provide(capture))
      ),
    read: (aheadMs: number) =>
      Effect.runSync(
        clock.read(Effect.sync(() => new Date(elapsedMs + aheadMs))).pipe(Effect.provide(capture))
      ).getTime() - elapsedMs
  }
}

const quick = { thereMs: 0.1, backMs: 0.1 }
const slow = { thereMs: 2, backMs: 8 }

describe("the database's clock", () => {
  it("follows the best sample, whatever slower samples say", () => {
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
    ["behind", 4_700]
  ])("is believed at once when another server takes over that is %s it", (_, stepped) => {
    const { aheadMs, pass, sample } = scripted()
    sample({ aheadMs: 5_000, ...quick })
    pass(1_000)
    sample({ aheadMs: stepped, ...slow })
    assert.closeTo(aheadMs(), stepped, 5)
    // The next fast response makes the estimate as accurate as before.
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

const hourMs = 3_600_000

describe.each([
  ["ahead", hourMs],
  ["back", -hourMs]
])("a step of the database's clock %s", (_, stepMs) => {
  it("is not moved by a step that is undone within half a minute", () => {
    const { aheadMs, clock, logs, pass, read, sample } = scripted()
    sample({ aheadMs: 5_000, ...quick })
    for (let second = 0; second < 20; second++) {
      sample({ aheadMs: 5_000 + stepMs, ...quick })
      assert.closeTo(aheadMs(), 5_000, 1)
      assert.closeTo(read(5_000 + stepMs), 5_000, 1)
      assert.closeTo(clock.doubt?.aheadMs ?? 0, stepMs, 1)
      pass(1_000)
    }
    sample({ aheadMs: 5_000, ...quick })
    assert.isUndefined(clock.doubt)
    pass(700)
    assert.closeTo(clock.steadyForMs, 700, 1)
    assert.closeTo(read(5_000), 5_000, 1)
    assert.strictEqual(clock.steps, 1)
    assert.deepEqual(
      logs.map((line) => line.split(":")[0]),
      ["the database clock was stepped", "the database clock shows the expected time again"]
    )
  })

  it("accepts a step that lasts half a minute", () => {
    const { aheadMs, clock, logs, pass, read, sample } = scripted()
    sample({ aheadMs: 5_000, ...quick })
    sample({ aheadMs: 5_000 + stepMs, ...quick })
    pass(29_000)
    sample({ aheadMs: 5_000 + stepMs, ...quick })
    assert.closeTo(aheadMs(), 5_000, 1)
    pass(1_100)
    assert.closeTo(read(5_000 + stepMs), 5_000 + stepMs, 1)
    assert.isUndefined(clock.doubt)
    assert.closeTo(aheadMs(), 5_000 + stepMs, 1)
    assert.match(logs.at(-1) ?? "", /stays 3600 s (ahead of|behind) the expected time/)
  })

  it("still doubts a step after a response that took too long", () => {
    const { clock, sample } = scripted()
    sample({ aheadMs: 5_000, ...quick })
    sample({ aheadMs: 5_000 + stepMs, ...quick })
    sample({ aheadMs: 5_000, thereMs: 6_000, backMs: 6_000 })
    assert.isDefined(clock.doubt)
  })
})

it("a statement whose time is five seconds ahead is not trusted", () => {
  const { clock, sample } = scripted()
  assert.isAbove(clock.latestMs, Date.UTC(9999))
  sample({ aheadMs: 5_000, ...quick })
  assert.closeTo(clock.latestMs, clock.now() + 5_000, 0.1)
})
