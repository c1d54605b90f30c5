import { describe, expect, it } from "vitest"
import { changedFields, mergeLatest, resolveConflicts } from "../src/ui/forms/merge.ts"

const opened = { name: "Nightly", schedule: "0 3 * * *", headers: [["a", "1"]], body: "" }

describe("a form whose record is changed by somebody else", () => {
  it("gets the new values of unchanged fields, and keeps the typed values", () => {
    const values = { ...opened, name: "Daily" }
    const latest = { ...opened, schedule: "0 4 * * *", headers: [["a", "2"]] }
    const merged = mergeLatest({ base: opened, values }, latest)
    expect(merged.values).toEqual({ ...latest, name: "Daily" })
    expect(merged.base).toEqual(latest)
    expect(merged.taken).toEqual(["schedule", "headers"])
    expect(merged.clashes).toEqual([])
  })

  it("asks about fields that both changed, unless both have the same value", () => {
    const values = { ...opened, name: "Mine", body: "same" }
    const latest = { ...opened, name: "Theirs", body: "same" }
    const merged = mergeLatest({ base: opened, values }, latest)
    expect(merged.clashes).toEqual(["name"])
    expect(merged.taken).toEqual([])
    expect(merged.values).toEqual(values)
    expect(merged.base).toEqual({ ...opened, body: "same" })

    const mine = resolveConflicts(merged, latest, merged.clashes, "mine")
    expect(changedFields(mine.base, mine.values)).toEqual({ name: "Mine" })
    expect(mergeLatest(mine, latest).clashes).toEqual([])

    const theirs = resolveConflicts(merged, latest, merged.clashes, "theirs")
    expect(theirs.values).toEqual(latest)
    expect(changedFields(theirs.base, theirs.values)).toEqual({})
  })

  it("asks again if the record changes once more", () => {
    const values = { ...opened, name: "Mine" }
    const first = { ...opened, name: "Theirs" }
    const kept = resolveConflicts({ base: opened, values }, first, ["name"], "mine")
    expect(mergeLatest(kept, { ...opened, name: "Other" }).clashes).toEqual(["name"])
  })

  it("sends fields that only the new input has", () => {
    const before: { period_seconds?: number; schedule?: string } = { period_seconds: 60 }
    expect(changedFields(before, { schedule: "0 3 * * *" })).toEqual({ schedule: "0 3 * * *" })
  })
})
