import { assert, describe, it } from "@effect/vitest"
import { DelayedTaskInput, DelayedTaskUpdate } from "@scheduling/domain/delayed/DelayedTask"
import { issuesOf } from "../support/issues.ts"

const run_at = "2026-01-31T09:30:00Z"
const input = (fields: object) =>
  issuesOf(DelayedTaskInput, { url: "https://example.com/", ...fields })

describe("a delayed task", () => {
  it("takes a time or a delay", () => {
    assert.deepStrictEqual(input({ run_at }), [])
    assert.deepStrictEqual(input({ delay_seconds: 0 }), [])
    assert.deepStrictEqual(input({ delay_seconds: 31_536_000, name: null }), [])
  })

  it("takes exactly one of them", () => {
    assert.deepStrictEqual(input({}), [["run_at", "or delay_seconds is required"]])
    assert.deepStrictEqual(input({ run_at, delay_seconds: 5 }), [
      ["delay_seconds", "must not be given together with run_at"]
    ])
  })

  it.each([
    ["delay_seconds", -1],
    ["delay_seconds", 31_536_001],
    ["delay_seconds", 1.5],
    ["delay_seconds", null],
    ["run_at", "2026-01-31T09:30:00"],
    ["run_at", "tomorrow"]
  ])("refuses %s where it is %j", (field, value) => {
    assert.deepStrictEqual(
      input({ [field]: value }).map(([path]) => path),
      [field]
    )
  })

  it("may be changed in any of its fields, with one time at most", () => {
    assert.deepStrictEqual(issuesOf(DelayedTaskUpdate, {}), [])
    assert.deepStrictEqual(issuesOf(DelayedTaskUpdate, { delay_seconds: 60 }), [])
    assert.deepStrictEqual(issuesOf(DelayedTaskUpdate, { run_at, delay_seconds: 60 }), [
      ["delay_seconds", "must not be given together with run_at"]
    ])
  })
})
