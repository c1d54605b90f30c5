import { describe, expect, it } from "vitest"
import { durationRangeError } from "../src/ui/forms/spans.ts"

describe("a duration", () => {
  const limits = { min: 30, max: 31_536_000 }

  it.each([
    [30, "60", undefined],
    [31_536_000, "86400", undefined],
    [29, "1", "Enter at least 30 seconds."],
    [29, "60", "Enter at least 0.5 minutes."],
    [0, "3600", "Enter at least 0.01 hours."],
    [31_536_001, "86400", "Enter at most 365 days."],
    [31_536_001, "60", "Enter at most 525,600 minutes."]
  ])("of %d s in units of %s s is refused so: %s", (seconds, unit, refusal) => {
    expect(durationRangeError(seconds, unit, limits)).toBe(refusal)
  })

  it("may be missing, and has a singular unit", () => {
    expect(durationRangeError(null, "60", limits)).toBeUndefined()
    expect(durationRangeError(60, "3600", { min: 3_600, max: 604_800 })).toBe(
      "Enter at least 1 hour."
    )
  })
})
