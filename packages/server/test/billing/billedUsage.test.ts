import { type Day, daysBetween, usageRange } from "@scheduling/domain/billing/Usage"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { billedUsage } from "../../src/billing/billedUsage.ts"
import type { UsageRow } from "../../src/plans/UsageRepo.ts"

const range = { from: "2026-02-27", to: "2026-03-02" }

const row = (day: Day, fields: Partial<UsageRow>): UsageRow => ({
  day,
  executions: 0,
  notifications: 0,
  most_seats: null,
  last_seats: null,
  most_monitors: null,
  last_monitors: null,
  ...fields
})

describe("billedUsage", () => {
  it("has every day, with the seats and monitors since the last change", () => {
    const days = billedUsage(
      [
        row("2026-02-28", { executions: 5, notifications: 1, most_monitors: 9, last_monitors: 8 }),
        row("2026-03-01", { most_seats: 2, last_seats: 1 })
      ],
      { ...range, before: { seats: 3, monitors: 7 } }
    )
    assert.deepStrictEqual(days, [
      { day: "2026-02-27", executions: 0, notifications: 0, monitors: 7, seats: 3 },
      { day: "2026-02-28", executions: 5, notifications: 1, monitors: 9, seats: 3 },
      { day: "2026-03-01", executions: 0, notifications: 0, monitors: 8, seats: 3 },
      { day: "2026-03-02", executions: 0, notifications: 0, monitors: 8, seats: 1 }
    ])
  })

  it("counts the most seats of a day, also the seats before its first change", () => {
    const [day] = billedUsage([row("2026-02-27", { most_seats: 5, last_seats: 2 })], {
      ...range,
      before: { seats: 3, monitors: 0 }
    })
    assert.strictEqual(day?.seats, 5)
  })

  const now = new Date("2026-06-01T23:59:59Z")

  it.each([
    [{}, { from: "2026-05-02", to: "2026-06-01" }],
    [{ to: "2026-03-31" }, { from: "2026-03-01", to: "2026-03-31" }],
    [{ from: "2025-06-01" }, { from: "2025-06-01", to: "2026-06-01" }]
  ])("of %j is %j", (query, expected) => {
    assert.deepStrictEqual(Result.getOrThrow(usageRange(query, now)), expected)
  })

  it.each([
    [{ from: "2026-06-02" }, "from must not be after to."],
    [{ from: "2025-05-31" }, "from must be less than 366 days before to."]
  ])("of %j is refused: %s", (query, message) => {
    assert.strictEqual(Result.getOrThrow(Result.flip(usageRange(query, now))).message, message)
  })

  it("accepts a range of 366 days", () => {
    assert.strictEqual(daysBetween("2028-01-01", "2028-12-31").length, 366)
  })
})
