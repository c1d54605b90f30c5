import { assert, describe, it } from "@effect/vitest"
import { nextFiring } from "@scheduling/schedules/Firings"
import { shortestGapSeconds } from "@scheduling/schedules/shortestGapSeconds"

describe("the shortest gap of a schedule", () => {
  it.each([
    ["* * * * *", 60],
    ["*/5 * * * *", 300],
    ["0 * * * *", 3_600],
    ["0,59 * * * *", 60],
    ["0 0 * * *", 86_400],
    ["0 0,23 * * *", 3_600],
    ["59 23,0 * * *", 3_600],
    ["30 6,18 1 1 *", 43_200],
    ["*/5 * * * * *", 5],
    ["*/10 30 * * * *", 10],
    ["30 * * * * *", 60],
    ["5,55 * * * * *", 10],
    ["5,55 */2 * * * *", 50],
    ["0 0 0 * * *", 86_400],
    ["0 */15 * * * *", 900],
    ["not a schedule", Infinity]
  ])("of %s is %d s", (schedule, seconds) => {
    assert.strictEqual(shortestGapSeconds(schedule), seconds)
  })

  it.each([
    "*/7 2-5 * * *",
    "3,9,50 */3 * * *",
    "0,1 0,12 1 * *",
    "*/25 22-23 * * 1-5",
    "*/7 9,10 * * *",
    "7,58 */9 4-5 * * *",
    "*/20 1,2 * * * *"
  ])(
    "is the least gap between the firings of %s if it fires daily, and otherwise a lower bound",
    (schedule) => {
      let at = new Date(Date.UTC(2026, 0, 1))
      const gaps: Array<number> = []
      for (let count = 0; count < 200; count++) {
        const next = new Date(nextFiring(schedule, "UTC", at, { dst_overlap: "first" }))
        if (count > 0) gaps.push((next.getTime() - at.getTime()) / 1_000)
        at = next
      }
      assert.isAtMost(shortestGapSeconds(schedule), Math.min(...gaps))
      if (schedule.endsWith("* * *")) {
        assert.strictEqual(shortestGapSeconds(schedule), Math.min(...gaps))
      }
    }
  )
})
