import { assert, describe, it } from "@effect/vitest"
import { RemainingDueRuns } from "../../src/workers/protocol/RemainingDueRuns.ts"

const due = (labels: ReadonlyArray<string>, count: number) => ({
  workspace_id: "one",
  labels,
  due: count,
  upcoming_ms: [5]
})

const all = () => true

describe("RemainingDueRuns", () => {
  it("gives each due run once", () => {
    const remaining = new RemainingDueRuns()
    assert.deepStrictEqual(remaining.take("one", all, 9, 0), [])
    remaining.learn(["one"], [due(["a"], 3), due(["b"], 0)], 0)
    assert.deepStrictEqual(remaining.take("one", all, 2, 10), [["a"]])
    assert.deepStrictEqual(remaining.take("two", all, 2, 10), [])
    assert.deepStrictEqual(remaining.take("one", all, 2, 10), [["a"]])
    assert.deepStrictEqual(remaining.take("one", all, 2, 10), [])
  })

  it("gives runs for half a second after the read", () => {
    const remaining = new RemainingDueRuns()
    remaining.learn(["one"], [due(["a"], 100)], 1_000)
    assert.deepStrictEqual(remaining.take("one", all, 2, 1_500), [["a"]])
    assert.deepStrictEqual(remaining.take("one", all, 2, 1_501), [])
  })

  it("forgets runs when asked, and when a later read finds none", () => {
    const remaining = new RemainingDueRuns()
    remaining.learn(["one"], [due(["a"], 100)], 0)
    remaining.forget("one")
    assert.deepStrictEqual(remaining.take("one", all, 2, 1), [])
    remaining.learn(["one"], [due(["a"], 100)], 0)
    remaining.learn(["one"], [], 1)
    assert.deepStrictEqual(remaining.take("one", all, 2, 1), [])
  })
})
