import { assert, describe, it } from "@effect/vitest"
import { timestampOf, timestampOrNull } from "../../src/store/timestampOf.ts"

const dayMs = 86_400_000

describe("timestampOf", () => {
  it("returns what toISOString returns, for any time from year 0 to 9999", () => {
    const first = Date.parse("0000-01-01T00:00:00.000Z")
    const last = Date.parse("9999-12-31T23:59:59.999Z")
    // Each time has a different date and a different time of day.
    for (let ms = first; ms <= last; ms += 31 * dayMs + 12_345_677) {
      const date = new Date(ms)
      assert.strictEqual(timestampOf(date), date.toISOString())
    }
    assert.strictEqual(timestampOf(new Date(last)), "9999-12-31T23:59:59.999Z")
  })

  it.each(["1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z", "2000-02-29T12:00:00.001Z"])(
    "gives %s",
    (text) => {
      assert.strictEqual(timestampOf(new Date(text)), text)
    }
  )

  it("returns the same after its cache was cleared", () => {
    for (const round of [1, 2]) {
      for (let day = 0; day < 10_000; day++) {
        const date = new Date(day * dayMs + round)
        assert.strictEqual(timestampOf(date), date.toISOString())
      }
    }
  })

  it("throws for an invalid date, as toISOString does", () => {
    assert.throws(() => timestampOf(new Date(Number.NaN)), RangeError)
  })
})

describe("timestampOrNull", () => {
  it("returns null for null", () => {
    assert.isNull(timestampOrNull(null))
    assert.isNull(timestampOrNull(undefined))
    assert.strictEqual(timestampOrNull(new Date(0)), "1970-01-01T00:00:00.000Z")
  })
})
