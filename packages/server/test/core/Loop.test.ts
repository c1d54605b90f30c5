import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import {
  loop,
  LoopFailures,
  LoopHealth,
  reportFailures,
  stuckRestartOptions,
  runAllInSequence
} from "../../src/core/Loop.ts"

const observer = () => {
  const health = new LoopFailures()
  const lines: Array<string> = []
  const layer = Layer.mergeAll(
    Layer.succeed(LoopHealth, health),
    Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  )
  return { health, layer, lines }
}

const observed = Effect.fnUntraced(function* () {
  const { health, layer, lines } = observer()
  const state = { isBroken: true, turns: 0 }
  const body = Effect.suspend(() => {
    state.turns++
    return state.isBroken ? Effect.fail(new Error("no such table")) : Effect.succeed("done")
  })
  const running = yield* Effect.forkChild(
    loop("tidying", body, {
      between: () => Effect.sleep("1 hour"),
      pauseAtMost: "10 seconds"
    }).pipe(Effect.provide(layer)),
    { startImmediately: true }
  )
  return { health, lines, running, state }
})

describe("a loop", () => {
  it.effect("that fails pauses for longer each time, and logs once a minute", () =>
    Effect.gen(function* () {
      const { lines, running, state } = yield* observed()
      // Failures after 0.3, 0.9, 2.1, 4.5, 9.3 and 18.9 s, and then every 10 s.
      yield* TestClock.adjust("19 seconds")
      assert.strictEqual(state.turns, 7)
      yield* TestClock.adjust("101 seconds")
      assert.strictEqual(state.turns, 17)
      assert.deepStrictEqual(lines, [
        "tidying: failed: no such table; retrying",
        "tidying: failed 12 times in a row: no such table; retrying"
      ])
      yield* Fiber.interrupt(running)
    })
  )

  it.effect("counts as failing from its second failure until it works", () =>
    Effect.gen(function* () {
      const { health, lines, running, state } = yield* observed()
      assert.deepStrictEqual(health.list(0), [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(health.list(1_000), [{ loop: "tidying", sinceMs: 0 }])
      state.isBroken = false
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(health.list(3_000), [])
      assert.strictEqual(lines.at(-1), "tidying: recovered after 3 failures")
      yield* Fiber.interrupt(running)
    })
  )

  it.effect.each([
    { what: "hangs", hang: Effect.never },
    { what: "hangs and may not be interrupted", hang: Effect.uninterruptible(Effect.never) }
  ])("that $what is named after two minutes, and restarted after five", ({ hang }) =>
    Effect.gen(function* () {
      const { health, lines, layer } = observer()
      let turns = 0
      const body = Effect.suspend(() => (++turns === 2 ? hang : Effect.sleep("50 seconds")))
      const running = yield* Effect.forkChild(
        loop("taking runs", body, stuckRestartOptions).pipe(Effect.provide(layer)),
        { startImmediately: true }
      )
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(health.list(0), [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        health.list(0).map((one) => one.loop),
        ["taking runs"]
      )
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(lines, ["taking runs: no progress for 5 minutes; restarting"])
      assert.strictEqual(health.restarts, 1)
      assert.isAtLeast(turns, 3)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(health.list(0), [])
      assert.strictEqual(health.restarts, 1)
      yield* Fiber.interrupt(running)
    })
  )

  it("whose body never ends counts as working once it has not failed again for a while", () => {
    const health = new LoopFailures()
    for (const at of [0, 1_000]) health.fail("listening", at, 2_000)
    assert.lengthOf(health.list(2_000), 1)
    assert.lengthOf(health.list(60_000), 0)
    assert.deepStrictEqual(health.fail("listening", 90_000, 2_000), {
      failures: 1,
      isReportedNow: true,
      pauseMs: 300
    })
  })
})

describe("runAllInSequence", () => {
  it.effect("runs all effects, and fails if one of them fails", () =>
    Effect.gen(function* () {
      const done: Array<string> = []
      const duty = (name: string) => Effect.sync(() => done.push(name))
      const duties = [duty("one"), Effect.fail("two"), Effect.fail("three"), Effect.die("four")]
      const cause = yield* Effect.flip(Effect.sandbox(runAllInSequence([...duties, duty("five")])))
      assert.deepStrictEqual(
        cause.reasons.filter(Cause.isFailReason).map(({ error }) => error),
        ["two", "three"]
      )
      assert.lengthOf(cause.reasons.filter(Cause.isDieReason), 1)
      assert.deepStrictEqual(done, ["one", "five"])
    })
  )

  it.effect("ends with the effect that is interrupted", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      let next = 0
      const running = yield* Effect.forkChild(
        runAllInSequence([
          Effect.andThen(Deferred.succeed(begun, undefined), Effect.never),
          Effect.sync(() => next++)
        ])
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(running)
      assert.strictEqual(next, 0)
    })
  )
})

describe("reportFailures", () => {
  it.effect("reports failures as a loop does, and passes them on", () =>
    Effect.gen(function* () {
      const { health, layer, lines } = observer()
      const fails = reportFailures("notifying other nodes", Effect.fail(new Error("no connection")))
      const tried = Effect.exit(fails).pipe(Effect.provide(layer))
      assert.isTrue(Exit.isFailure(yield* tried))
      yield* tried
      assert.deepStrictEqual(health.list(0), [{ loop: "notifying other nodes", sinceMs: 0 }])
      yield* reportFailures("notifying other nodes", Effect.void).pipe(Effect.provide(layer))
      assert.deepStrictEqual(health.list(0), [])
      assert.deepStrictEqual(lines, [
        "notifying other nodes: failed: no connection",
        "notifying other nodes: recovered after 2 failures"
      ])
    })
  )
})
