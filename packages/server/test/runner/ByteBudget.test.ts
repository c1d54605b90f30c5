import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ByteBudget } from "../../src/runner/ByteBudget.ts"

/** Asks for so many bytes, and writes down who got them. */
const asking = (budget: ByteBudget) => {
  const granted: Array<string> = []
  return {
    granted,
    ask: (workspace: string, bytes: number) =>
      budget.ask(workspace, bytes, () => granted.push(workspace))
  }
}

describe("the bytes of calls in flight", () => {
  it("are four fifths of the budget for one workspace, and a newcomer finds room", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    for (let call = 0; call < 20; call++) ask("a", 10)
    assert.strictEqual(budget.taken, 80)
    assert.deepStrictEqual([...budget.waiting], ["a"])
    ask("b", 15)
    assert.strictEqual(granted.at(-1), "b")
    assert.strictEqual(budget.taken, 95)
  })

  it("go to those who wait in turns as they are given back", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    for (let call = 0; call < 8; call++) ask("a", 10)
    for (let call = 0; call < 3; call++) ask("a", 10)
    for (let call = 0; call < 3; call++) ask("b", 20)
    assert.deepStrictEqual(granted.slice(8), ["b"])
    for (let call = 0; call < 8; call++) budget.give("a", 10)
    assert.deepStrictEqual(granted.slice(9), ["a", "b", "a", "a"])
    budget.give("b", 20)
    assert.deepStrictEqual(granted.slice(13), ["b"])
    assert.isEmpty([...budget.waiting])
  })

  it("wait for a large call of a newcomer, however many smaller ones would fit", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    ask("a", 60)
    ask("b", 90)
    ask("c", 5)
    assert.deepStrictEqual(granted, ["a"])
    budget.give("a", 60)
    assert.deepStrictEqual(granted, ["a", "b", "c"])
  })

  it("are all there are for a call that needs more than that", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    ask("a", 1_000)
    assert.deepStrictEqual(granted, ["a"])
    assert.strictEqual(budget.taken, 100)
  })

  it("are for others where somebody waits no longer", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    ask("a", 60)
    const takeBack = ask("b", 90)
    ask("c", 20)
    takeBack()
    takeBack()
    assert.deepStrictEqual(granted, ["a", "c"])
    assert.isEmpty([...budget.waiting])
  })

  it.effect("are given back by a call as it shrinks and ends, and never twice", () =>
    Effect.gen(function* () {
      const budget = new ByteBudget(100)
      const allowance = budget.open("a")
      yield* allowance.take(60)
      allowance.shrink(20)
      allowance.shrink(30)
      assert.strictEqual(budget.taken, 20)
      allowance.shrink(0)
      allowance.shrink(0)
      assert.strictEqual(budget.taken, 0)
    })
  )
})
