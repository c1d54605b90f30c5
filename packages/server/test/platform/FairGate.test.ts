import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { FairGate } from "../../src/platform/FairGate.ts"

/** Work that says whose it was. */
const saying = (said: Array<string>, key: string) => Effect.sync(() => void said.push(key))

describe("FairGate", () => {
  it.live("serves whoever asks in turns, however many one of them has waiting", () =>
    Effect.gen(function* () {
      const gate = new FairGate<string>(1)
      const said: Array<string> = []
      const keys = ["a", "a", "a", "a", "b", "a", "c", "b"]
      yield* Effect.forEach(keys, (key) => gate.pass(key, saying(said, key)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(said.join(""), "aabcabaa")
    })
  )

  it.live("lets the event loop go on between two of them", () =>
    Effect.gen(function* () {
      const gate = new FairGate<string>(1)
      let rounds = 0
      const count = () => {
        rounds++
        round = setImmediate(count)
      }
      let round = setImmediate(count)
      const began: Array<number> = []
      const work = Effect.sync(() => void began.push(rounds))
      yield* Effect.forEach(Array.from({ length: 20 }), () => gate.pass("a", work), {
        concurrency: "unbounded"
      })
      clearImmediate(round)
      assert.strictEqual(new Set(began).size, 20)
    })
  )

  it.live("does no more at once than it may", () =>
    Effect.gen(function* () {
      const gate = new FairGate<string>(2)
      let running = 0
      let most = 0
      const work = Effect.gen(function* () {
        most = Math.max(most, ++running)
        yield* Effect.yieldNow
        running--
      })
      yield* Effect.forEach(Array.from({ length: 20 }), () => gate.pass("a", work), {
        concurrency: "unbounded"
      })
      assert.strictEqual(most, 2)
    })
  )

  it.live("goes on after work that failed, was interrupted, or did not wait for its turn", () =>
    Effect.gen(function* () {
      const gate = new FairGate<string>(1)
      const said: Array<string> = []
      const hanging = yield* Effect.forkChild(gate.pass("a", Effect.never))
      yield* Effect.yieldNow
      const failing = yield* Effect.forkChild(gate.pass("a", Effect.fail("no")))
      const leaving = yield* Effect.forkChild(gate.pass("b", saying(said, "b")))
      const last = yield* Effect.forkChild(gate.pass("a", saying(said, "a")))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(leaving)
      yield* Fiber.interrupt(hanging)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(failing)))
      yield* Fiber.join(last)
      assert.deepStrictEqual(said, ["a"])
    })
  )
})
