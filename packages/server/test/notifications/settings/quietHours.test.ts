import { assert, describe, it } from "@effect/vitest"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { quietHoursEnd } from "../../../src/notifications/settings/quietHours.ts"

const now = new Date("2026-06-01T12:00:00Z")

describe("Quiet hours", () => {
  const quiet = { timezone: TimeZone.make("Europe/Berlin"), from: "22:00", to: "07:00" }

  it.each([
    ["2026-06-01T19:59:59Z", undefined],
    ["2026-06-01T20:00:00Z", "2026-06-02T05:00:00.000Z"],
    ["2026-06-02T04:59:59Z", "2026-06-02T05:00:00.000Z"],
    ["2026-06-02T05:00:00Z", undefined],
    // The nights in which clocks change for daylight saving time.
    ["2026-03-28T23:30:00Z", "2026-03-29T05:00:00.000Z"],
    ["2026-10-25T00:30:00Z", "2026-10-25T06:00:00.000Z"]
  ])("at %s end at %s", (at, end) => {
    assert.strictEqual(quietHoursEnd(quiet, new Date(at))?.toISOString(), end)
  })

  it("may be in the middle of the day, or none", () => {
    const noon = { ...quiet, timezone: TimeZone.make("UTC"), from: "11:30", to: "12:30" }
    assert.strictEqual(quietHoursEnd(noon, now)?.toISOString(), "2026-06-01T12:30:00.000Z")
    assert.isUndefined(quietHoursEnd(null, now))
  })
})
