import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Timeouts } from "../src/Timeouts.ts"

describe("Timeouts", () => {
  it.effect("notify each call of its own timeout, unless it has ended before", () =>
    Effect.gen(function* () {
      const timeouts = yield* Timeouts.make
      const told: Array<string> = []
      const after = (millis: number, name: string) => timeouts.after(millis, () => told.push(name))
      const endFirst = after(1_000, "first")
      after(3_000, "slow")
      yield* TestClock.adjust(400)
      after(1_000, "second")
      endFirst()
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(told, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(told, ["second"])
      after(1_000, "third")
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(told, ["second", "third"])
      yield* TestClock.adjust(600)
      assert.deepStrictEqual(told, ["second", "third", "slow"])
    })
  )

  it.effect("remove calls at any position, even twice", () =>
    Effect.gen(function* () {
      const timeouts = yield* Timeouts.make
      const told: Array<string> = []
      const takeBack = ["a", "b", "c", "d", "e"].map((name) =>
        timeouts.after(1_000, () => told.push(name))
      )
      for (const n of [2, 0, 4, 2, 0]) takeBack[n]?.()
      timeouts.after(1_000, () => told.push("f"))
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(told, ["b", "d", "f"])
      for (const again of takeBack) again()
      timeouts.after(1_000, () => told.push("g"))
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(told, ["b", "d", "f", "g"])
    })
  )

  it.effect("notify the other calls if one notification throws", () =>
    Effect.gen(function* () {
      const timeouts = yield* Timeouts.make
      const told: Array<string> = []
      timeouts.after(1_000, () => {
        throw new Error("broken")
      })
      timeouts.after(1_000, () => told.push("other"))
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(told, ["other"])
    })
  )

  it.effect("notify no call after their scope is closed", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const timeouts = yield* Scope.provide(Timeouts.make, scope)
      const told: Array<string> = []
      timeouts.after(1_000, () => told.push("late"))
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(told, [])
    })
  )
})
