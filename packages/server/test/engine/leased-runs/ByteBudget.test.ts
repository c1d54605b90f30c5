import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ByteBudget } from "../../../src/engine/leased-runs/ByteBudget.ts"

/** Requests bytes, and records which calls received them. */
const asking = (budget: ByteBudget) => {
  const granted: Array<number> = []
  return {
    granted,
    ask: (share: number, bytes: number) => budget.ask(share, bytes, () => granted.push(share))
  }
}

describe("the bytes of calls in flight", () => {
  it("are limited to four fifths of the budget for one account, so that a newcomer finds capacity", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    for (let call = 0; call < 20; call++) ask(1, 10)
    assert.strictEqual(budget.taken, 80)
    assert.deepStrictEqual([...budget.waiting], [1])
    ask(2, 15)
    assert.strictEqual(granted.at(-1), 2)
    assert.strictEqual(budget.taken, 95)
  })

  it("go to waiting accounts in turn as they are released", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    for (let call = 0; call < 8; call++) ask(1, 10)
    for (let call = 0; call < 3; call++) ask(1, 10)
    for (let call = 0; call < 3; call++) ask(2, 20)
    assert.deepStrictEqual(granted.slice(8), [2])
    for (let call = 0; call < 8; call++) budget.give(1, 10)
    assert.deepStrictEqual(granted.slice(9), [1, 2, 1, 1])
    budget.give(2, 20)
    assert.deepStrictEqual(granted.slice(13), [2])
    assert.isEmpty([...budget.waiting])
  })

  it("wait for a large call of a newcomer, however many smaller ones would fit", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    ask(1, 60)
    ask(2, 90)
    ask(3, 5)
    assert.deepStrictEqual(granted, [1])
    budget.give(1, 60)
    assert.deepStrictEqual(granted, [1, 2, 3])
  })

  it("are granted completely to a call that needs more than the budget", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    ask(1, 1_000)
    assert.deepStrictEqual(granted, [1])
    assert.strictEqual(budget.taken, 100)
  })

  it("go to others when a caller stops waiting", () => {
    const budget = new ByteBudget(100)
    const { ask, granted } = asking(budget)
    ask(1, 60)
    const recover = ask(2, 90)
    ask(3, 20)
    recover()
    recover()
    assert.deepStrictEqual(granted, [1, 3])
    assert.isEmpty([...budget.waiting])
  })

  it.effect("are released once as a call shrinks and finishes", () =>
    Effect.gen(function* () {
      const budget = new ByteBudget(100)
      const allowance = budget.open(1)
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
