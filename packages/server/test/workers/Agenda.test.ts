import { assert, describe, it } from "@effect/vitest"
import { KnownDueRuns } from "../../src/workers/protocol/KnownDueRuns.ts"

const due = (labels: ReadonlyArray<string>, count: number, upcoming_ms: Array<number> = []) => ({
  workspace_id: "one",
  labels,
  due: count,
  upcoming_ms
})

const all = () => true

describe("an agenda", () => {
  it("gives each run once, up to the number of slots", () => {
    const agenda = new KnownDueRuns()
    agenda.learn(["one"], [due(["a"], 3), due(["b"], 1)])
    assert.deepStrictEqual(agenda.take("two", all, 9), [])
    assert.deepStrictEqual(agenda.take("one", all, 2), [["a"]])
    assert.deepStrictEqual(agenda.take("one", all, 9), [["a"], ["b"]])
    assert.deepStrictEqual(agenda.take("one", all, 9), [])
  })

  it("gives only runs whose labels the agent has", () => {
    const agenda = new KnownDueRuns()
    agenda.learn(["one"], [due(["a"], 1), due(["b"], 1)])
    const has = (labels: ReadonlyArray<string>) => labels.includes("b")
    assert.deepStrictEqual(agenda.take("one", has, 9), [["b"]])
    assert.deepStrictEqual(agenda.take("one", has, 9), [])
    assert.deepStrictEqual(agenda.take("one", all, 9), [["a"]])
  })

  it("gives no run before its due time, and returns the next due time", () => {
    const agenda = new KnownDueRuns()
    agenda.learn(["one"], [due(["a"], 0, [100, 100, 300]), due(["b"], 0, [200])])
    assert.strictEqual(agenda.nextMs, 100)
    agenda.pass(99)
    assert.deepStrictEqual(agenda.take("one", all, 9), [])
    agenda.pass(100)
    assert.strictEqual(agenda.nextMs, 200)
    assert.deepStrictEqual(agenda.take("one", all, 1), [["a"]])
    agenda.pass(250)
    assert.deepStrictEqual(agenda.take("one", all, 9), [["a"], ["b"]])
    agenda.pass(300)
    assert.deepStrictEqual(agenda.take("one", all, 9), [["a"]])
    assert.strictEqual(agenda.nextMs, Infinity)
  })

  it("replaces the runs of the given workspaces, and drops other workspaces unless the caller keeps them", () => {
    const agenda = new KnownDueRuns()
    agenda.learn(["one"], [due(["a"], 1, [100])])
    agenda.learn(["two"], [], true)
    assert.strictEqual(agenda.nextMs, 100)
    agenda.learn(["one"], [], true)
    assert.strictEqual(agenda.nextMs, Infinity)
    agenda.learn(["one"], [due(["a"], 1)])
    agenda.learn(["two"], [])
    assert.deepStrictEqual(agenda.take("one", all, 9), [])
  })
})
