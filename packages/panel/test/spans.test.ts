import { describe, expect, it } from "vitest"
import { spanRefusal } from "../src/ui/forms/spans.ts"

describe("a length of time", () => {
  const limits = { min: 30, max: 31_536_000 }

  it.each([
    [30, "60", undefined],
    [31_536_000, "86400", undefined],
    [29, "1", "Give at least 30 seconds."],
    [29, "60", "Give at least 0.5 minutes."],
    [0, "3600", "Give at least 0.01 hours."],
    [31_536_001, "86400", "Give at most 365 days."],
    [31_536_001, "60", "Give at most 525,600 minutes."]
  ])("of %d s in units of %s s is refused so: %s", (seconds, unit, refusal) => {
    expect(spanRefusal(seconds, unit, limits)).toBe(refusal)
  })

  it("may be missing, and says one unit as one", () => {
    expect(spanRefusal(null, "60", limits)).toBeUndefined()
    expect(spanRefusal(60, "3600", { min: 3_600, max: 604_800 })).toBe("Give at least 1 hour.")
  })
})
