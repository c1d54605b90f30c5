import { assert, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { UnsentChanges } from "../../src/events/UnsentChanges.ts"
import {
  type Change,
  changeId,
  RecentChanges,
  resetChange,
  taskChange
} from "../../src/events/RecentChanges.ts"

const limits = {
  workspaces: 3,
  events: 60,
  eventsOfOne: 30,
  keptMs: 1_000,
  followedMs: 2_000,
  clockSlackMs: 10
}

const change: Change = resetChange

const sentAt = (atMs: number, count = 1) =>
  Array.from({ length: count }, (_, n) => ({ id: changeId(atMs, "0123abcd", n), atMs, change }))

describe("recent changes", () => {
  it("are kept only of workspaces with subscribers", () => {
    const recent = new RecentChanges(limits)
    recent.keep("a", sentAt(100))
    assert.isTrue(recent.isEmpty)
    assert.isUndefined(recent.after("a", changeId(100, "0123abcd", 0), 100))
    assert.isTrue(recent.follow("a", 0))
    assert.isFalse(recent.follow("a", 1))
    assert.isTrue(recent.has("a"))
    recent.follow("b", 2_002)
    assert.isFalse(recent.has("a"))
  })

  it("resume after a known event", () => {
    const recent = new RecentChanges(limits)
    recent.follow("a", 0)
    const all = [...sentAt(100, 3), ...sentAt(200, 2)]
    recent.keep("a", all)
    assert.deepStrictEqual(recent.after("a", changeId(100, "0123abcd", 1), 300), all.slice(2))
    assert.deepStrictEqual(recent.after("a", changeId(200, "0123abcd", 1), 300), [])
  })

  it("resume after an id of another node", () => {
    const recent = new RecentChanges(limits)
    recent.follow("a", 0)
    recent.keep("a", [...sentAt(100), ...sentAt(200)])
    assert.deepStrictEqual(recent.after("a", changeId(150, "ffffffff", 9), 300), sentAt(200))
    assert.deepStrictEqual(recent.after("a", changeId(205, "ffffffff", 9), 300), sentAt(200))
  })

  it("resume after a time", () => {
    const recent = new RecentChanges({ ...limits, keptMs: 5_000 })
    recent.follow("a", 500)
    recent.keep("a", [...sentAt(1_000), ...sentAt(2_000), ...sentAt(3_000)])
    const after = (time: string) => recent.after("a", time, 3_000)
    assert.deepStrictEqual(after("1970-01-01T00:00:02Z"), [...sentAt(2_000), ...sentAt(3_000)])
    assert.deepStrictEqual(after("1970-01-01T00:00:02.500Z"), sentAt(3_000))
    assert.isUndefined(after("1970-01-01T00:00:00Z"), "before it was followed")
    assert.isUndefined(after("1970-01-01T00:00:04Z"), "in the future")
    assert.isUndefined(after("1970-02-30T00:00:02Z"), "not a day")
    assert.isUndefined(recent.after("a", "1970-01-01T00:00:02Z", 7_001), "too long ago")
  })

  it("do not resume if changes may be missing", () => {
    const recent = new RecentChanges(limits)
    recent.follow("a", 500)
    recent.keep("a", sentAt(600))
    assert.isUndefined(
      recent.after("a", changeId(499, "ffffffff", 1), 600),
      "before it was followed"
    )
    assert.isUndefined(recent.after("a", changeId(600, "0123abcd", 0), 1_601), "too long ago")
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
    assert.isUndefined(recent.after("a", changeId(600, "0123abcd", 0), 700), "a broken connection")
  })

  it("are bounded, and do not resume where changes were dropped", () => {
    const recent = new RecentChanges(limits)
    recent.follow("a", 0)
    recent.keep("a", sentAt(100, 25))
    recent.keep("a", sentAt(101, 25))
    assert.isUndefined(recent.after("a", changeId(99, "ffffffff", 1), 200))
    assert.lengthOf(recent.after("a", changeId(101, "0123abcd", 0), 200) ?? [], 24)
    for (const id of ["b", "c", "d"]) recent.follow(id, 1)
    assert.isFalse(recent.has("a"))
    recent.keep("b", sentAt(200, 50))
    assert.lengthOf(recent.after("b", changeId(200, "ffffffff", 1), 200) ?? [], 20)
  })
})

describe("unsent changes", () => {
  it("are taken by workspace, in order", () => {
    const unsent = new UnsentChanges({ perSecond: 3 })
    const other: Change = { ...change }
    unsent.add("a", [change, other], 0)
    unsent.add("b", [change], 0)
    assert.deepStrictEqual(unsent.take(10), [
      ["a", [change, other]],
      ["b", [change]]
    ])
    assert.isFalse(unsent.isEmpty)
    assert.deepStrictEqual(unsent.take(1_000), [])
    assert.isTrue(unsent.isEmpty)
  })

  it("become one reset beyond the limit per second", () => {
    const unsent = new UnsentChanges({ perSecond: 3 })
    const task = taskChange("task.created", { id: randomUUID(), kind: "cron" })
    const many = (count: number) => Array.from({ length: count }, () => task)
    unsent.add("a", many(5), 0)
    assert.deepStrictEqual(unsent.take(10), [["a", [task, task, task]]])
    unsent.add("a", many(500), 500)
    assert.deepStrictEqual(unsent.take(510), [])
    assert.deepStrictEqual(unsent.take(1_000), [["a", [resetChange]]])
    unsent.add("a", [task], 1_100)
    assert.deepStrictEqual(unsent.take(1_110), [["a", [task]]])
  })

  it("contain a reset immediately if changes were missed", () => {
    const unsent = new UnsentChanges({ perSecond: 3 })
    unsent.reset("a", 0)
    assert.deepStrictEqual(unsent.take(1), [["a", [resetChange]]])
  })
})
