import { assert, describe, it } from "@effect/vitest"
import { Outgoing } from "../../src/events/Outgoing.ts"
import { randomUUID } from "node:crypto"
import { type Change, idOf, Recent, resetChange, taskChange } from "../../src/events/Recent.ts"

const limits = {
  workspaces: 3,
  events: 60,
  eventsOfOne: 30,
  keptMs: 1_000,
  followedMs: 2_000,
  clockSlackMs: 10
}

const change: Change = resetChange

const told = (atMs: number, count = 1) =>
  Array.from({ length: count }, (_, n) => ({ id: idOf(atMs, "0123abcd", n), atMs, change }))

describe("what was told lately", () => {
  it("is kept only of workspaces that somebody follows", () => {
    const recent = new Recent(limits)
    recent.keep("a", told(100))
    assert.isTrue(recent.isEmpty)
    assert.isUndefined(recent.after("a", idOf(100, "0123abcd", 0), 100))
    assert.isTrue(recent.follow("a", 0))
    assert.isFalse(recent.follow("a", 1))
    assert.isTrue(recent.has("a"))
    recent.follow("b", 2_002)
    assert.isFalse(recent.has("a"))
  })

  it("goes on after an event that it has", () => {
    const recent = new Recent(limits)
    recent.follow("a", 0)
    const all = [...told(100, 3), ...told(200, 2)]
    recent.keep("a", all)
    assert.deepStrictEqual(recent.after("a", idOf(100, "0123abcd", 1), 300), all.slice(2))
    assert.deepStrictEqual(recent.after("a", idOf(200, "0123abcd", 1), 300), [])
  })

  it("goes on after a moment that another node has named", () => {
    const recent = new Recent(limits)
    recent.follow("a", 0)
    recent.keep("a", [...told(100), ...told(200)])
    assert.deepStrictEqual(recent.after("a", idOf(150, "ffffffff", 9), 300), told(200))
    assert.deepStrictEqual(recent.after("a", idOf(205, "ffffffff", 9), 300), told(200))
  })

  it("goes on after a time that a reader has named", () => {
    const recent = new Recent({ ...limits, keptMs: 5_000 })
    recent.follow("a", 500)
    recent.keep("a", [...told(1_000), ...told(2_000), ...told(3_000)])
    const after = (time: string) => recent.after("a", time, 3_000)
    assert.deepStrictEqual(after("1970-01-01T00:00:02Z"), [...told(2_000), ...told(3_000)])
    assert.deepStrictEqual(after("1970-01-01T00:00:02.500Z"), told(3_000))
    assert.isUndefined(after("1970-01-01T00:00:00Z"), "before it was followed")
    assert.isUndefined(after("1970-01-01T00:00:04Z"), "in the future")
    assert.isUndefined(after("1970-02-30T00:00:02Z"), "not a day")
    assert.isUndefined(recent.after("a", "1970-01-01T00:00:02Z", 7_001), "too long ago")
  })

  it("does not go on where something may be missing", () => {
    const recent = new Recent(limits)
    recent.follow("a", 500)
    recent.keep("a", told(600))
    assert.isUndefined(recent.after("a", idOf(499, "ffffffff", 1), 600), "before it was followed")
    assert.isUndefined(recent.after("a", idOf(600, "0123abcd", 0), 1_601), "too long ago")
    for (const id of [
      "",
      "600",
      "600-0123abcd",
      "x-0123abcd-1",
      "9".repeat(99),
      "600-0123abcd-0 "
    ]) {
      assert.isUndefined(recent.after("a", id, 600), id)
    }
    recent.restart(700)
    assert.isUndefined(recent.after("a", idOf(600, "0123abcd", 0), 700), "a broken connection")
  })

  it("is bounded, and knows what it has dropped", () => {
    const recent = new Recent(limits)
    recent.follow("a", 0)
    recent.keep("a", told(100, 25))
    recent.keep("a", told(101, 25))
    assert.isUndefined(recent.after("a", idOf(99, "ffffffff", 1), 200))
    assert.lengthOf(recent.after("a", idOf(101, "0123abcd", 0), 200) ?? [], 24)
    for (const id of ["b", "c", "d"]) recent.follow(id, 1)
    assert.isFalse(recent.has("a"))
    recent.keep("b", told(200, 50))
    assert.lengthOf(recent.after("b", idOf(200, "ffffffff", 1), 200) ?? [], 20)
  })
})

describe("what is told next", () => {
  it("is told of each workspace, in order", () => {
    const outgoing = new Outgoing({ perSecond: 3 })
    const other: Change = { ...change }
    outgoing.add("a", [change, other], 0)
    outgoing.add("b", [change], 0)
    assert.deepStrictEqual(outgoing.take(10), [
      ["a", [change, other]],
      ["b", [change]]
    ])
    assert.isFalse(outgoing.isEmpty)
    assert.deepStrictEqual(outgoing.take(1_000), [])
    assert.isTrue(outgoing.isEmpty)
  })

  it("becomes one reset where it is more than a reader could follow", () => {
    const outgoing = new Outgoing({ perSecond: 3 })
    const task = taskChange("task.created", { id: randomUUID(), kind: "cron" })
    const many = (count: number) => Array.from({ length: count }, () => task)
    outgoing.add("a", many(5), 0)
    assert.deepStrictEqual(outgoing.take(10), [["a", [task, task, task]]])
    outgoing.add("a", many(500), 500)
    assert.deepStrictEqual(outgoing.take(510), [])
    assert.deepStrictEqual(outgoing.take(1_000), [["a", [resetChange]]])
    outgoing.add("a", [task], 1_100)
    assert.deepStrictEqual(outgoing.take(1_110), [["a", [task]]])
  })

  it("is a reset at once where something was missed", () => {
    const outgoing = new Outgoing({ perSecond: 3 })
    outgoing.reset("a", 0)
    assert.deepStrictEqual(outgoing.take(1), [["a", [resetChange]]])
  })
})
