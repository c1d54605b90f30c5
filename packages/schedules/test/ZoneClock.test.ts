import { assert, describe, it } from "@effect/vitest"
import { offsetPeriodAt, offsetPeriodsBetween } from "@scheduling/schedules/ZoneClock"

const hour = 3_600_000
const day = 24 * hour

/** A time zone that changes its clocks once. */
const changing = (at: number, before: number, after: number) => (instant: number) =>
  instant < at ? before : after

describe("the stretches of a block", () => {
  it("know until when times repeat if the block starts among repeated times", () => {
    const offsetAt = changing(99.98 * day, 2 * hour, hour)
    assert.deepStrictEqual(offsetPeriodsBetween(100 * day, 110 * day, offsetAt), [
      {
        start: 100 * day,
        end: 110 * day,
        offset: hour,
        skipped: 0,
        repeatsUntil: 99.98 * day + hour
      }
    ])
  })

  it("know what was skipped if the block starts at a change", () => {
    const offsetAt = changing(100 * day, hour, 2 * hour)
    assert.deepStrictEqual(offsetPeriodsBetween(100 * day, 110 * day, offsetAt), [
      {
        start: 100 * day,
        end: 110 * day,
        offset: 2 * hour,
        skipped: hour,
        repeatsUntil: 100 * day
      }
    ])
  })

  it("do not repeat a gap from before the block", () => {
    const offsetAt = changing(100 * day - 1000, hour, 2 * hour)
    const [first] = offsetPeriodsBetween(100 * day, 110 * day, offsetAt)
    assert.strictEqual(first?.skipped, 0)
  })

  it("leave a change at their end to the next block", () => {
    const offsetAt = changing(110 * day, hour, 2 * hour)
    const stretches = offsetPeriodsBetween(100 * day, 110 * day, offsetAt)
    assert.deepStrictEqual(
      stretches.map(({ start, end }) => [start, end]),
      [[100 * day, 110 * day]]
    )
  })

  it("find a change in the last second", () => {
    const offsetAt = changing(110 * day - 1000, hour, 2 * hour)
    const stretches = offsetPeriodsBetween(100 * day, 110 * day, offsetAt)
    assert.deepStrictEqual(
      stretches.map(({ start, end }) => [start, end]),
      [
        [100 * day, 110 * day - 1000],
        [110 * day - 1000, 110 * day]
      ]
    )
  })
})

describe("the clocks of a zone", () => {
  it("cover a century without a gap", () => {
    let at = Date.UTC(1950, 0)
    while (at < Date.UTC(2050, 0)) {
      const period = offsetPeriodAt("Europe/London", at)
      assert.isAtMost(period.start, at)
      assert.isAbove(period.end, at)
      if (at !== Date.UTC(1950, 0)) assert.strictEqual(period.start, at)
      at = period.end
    }
  })
})
