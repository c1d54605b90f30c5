import { describe, expect, it } from "vitest"
import { remainingIssues } from "../src/ui/forms/issues.ts"

describe("an issue with a form", () => {
  const before = {
    schedule: "bad",
    headers: [["a", "b"]],
    steps: [{ url: "one" }, { url: "two" }]
  }
  const left = (path: ReadonlyArray<string | number>, change: object) =>
    remainingIssues([{ path, message: "wrong" }], before, { ...before, ...change }).length === 1

  it("stays until its value has changed", () => {
    expect(left(["schedule"], { headers: [] })).toBe(true)
    expect(left(["schedule"], { schedule: "0 3 * * *" })).toBe(false)
    expect(left(["headers", "a"], { headers: [["a", "c"]] })).toBe(false)
    expect(left(["steps", 1, "url"], { steps: [{ url: "changed" }, { url: "two" }] })).toBe(true)
    expect(left(["steps", 1, "url"], { steps: [{ url: "one" }, { url: "changed" }] })).toBe(false)
  })

  it("stays if the form has no such value", () => {
    expect(left(["delay_seconds"], { schedule: "" })).toBe(true)
    expect(left([], { schedule: "" })).toBe(true)
  })
})
