import { assert, describe, it } from "@effect/vitest"
import { Remaining } from "../../src/workers/protocol/Remaining.ts"

const due = (labels: ReadonlyArray<string>, count: number) => ({
  workspace_id: "one",
  labels,
  due: count,
  upcoming_ms: [5]
})

const all = () => true

describe("what remains of a look", () => {
  it("is given once, without what is not due yet", () => {
    const remaining = new Remaining()
    assert.deepStrictEqual(remaining.take("one", all, 9, 0), [])
    remaining.learn(["one"], [due(["a"], 3), due(["b"], 0)], 0)
    assert.deepStrictEqual(remaining.take("one", all, 2, 10), [["a"]])
    assert.deepStrictEqual(remaining.take("two", all, 2, 10), [])
    assert.deepStrictEqual(remaining.take("one", all, 2, 10), [["a"]])
    assert.deepStrictEqual(remaining.take("one", all, 2, 10), [])
  })

  it("is trusted for half a second", () => {
    const remaining = new Remaining()
    remaining.learn(["one"], [due(["a"], 100)], 1_000)
    assert.deepStrictEqual(remaining.take("one", all, 2, 1_500), [["a"]])
    assert.deepStrictEqual(remaining.take("one", all, 2, 1_501), [])
  })

  it("is forgotten if there was less, and if a later look finds nothing", () => {
    const remaining = new Remaining()
    remaining.learn(["one"], [due(["a"], 100)], 0)
    remaining.forget("one")
    assert.deepStrictEqual(remaining.take("one", all, 2, 1), [])
    remaining.learn(["one"], [due(["a"], 100)], 0)
    remaining.learn(["one"], [], 1)
    assert.deepStrictEqual(remaining.take("one", all, 2, 1), [])
  })
})
