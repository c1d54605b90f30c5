import { assert, describe, it } from "@effect/vitest"
import { latestFiring, nextFiring, previewFirings } from "../src/Firings.ts"
import { formatInterval, parseIntervalSeconds, intervalParts } from "../src/Interval.ts"
import { parseSchedule } from "../src/parseSchedule.ts"
import { shortestGapSeconds } from "../src/shortestGapSeconds.ts"
import { latestSlot, nextSlot } from "../src/slots.ts"
import { visitFirings } from "../src/visitFirings.ts"

const minutes = 60_000
const every90m = formatInterval({ every: "90m", anchor: "2026-03-28T23:10:30.000Z" })
const anchor = Date.parse("2026-03-28T23:10:30.000Z")

describe("an interval", () => {
  it("is read with its units, from 5 seconds to 366 days", () => {
    assert.deepStrictEqual(
      ["45s", "90m", "1h30m", "2d", "1d2h3m4s", "366d"].map(parseIntervalSeconds),
      [45, 5_400, 5_400, 172_800, 93_784, 31_622_400]
    )
    for (const text of ["", "4s", "367d", "0m", "90", "90M", "-5m", "1.5h", "30m1h", " 5m", "1w"]) {
      assert.isString(parseIntervalSeconds(text), text)
    }
  })

  it("is no cron expression, and its text keeps what the author wrote", () => {
    assert.isFalse(parseSchedule(every90m).ok)
    assert.isFalse(parseSchedule("@every 90m").ok)
    assert.deepStrictEqual(intervalParts(every90m), {
      every: "90m",
      anchor: "2026-03-28T23:10:30.000Z"
    })
    assert.isUndefined(intervalParts("0 3 * * *"))
    assert.throws(() => nextFiring("@every 90x", "UTC", 0), RangeError)
  })

  it("fires at multiples on both sides of the anchor, and clock changes do not move them", () => {
    for (const timezone of ["UTC", "Europe/Berlin", "Australia/Lord_Howe"]) {
      let at = anchor - 20 * 90 * minutes
      for (let index = -19; index <= 20; index++) {
        at = nextFiring(every90m, timezone, at)
        assert.strictEqual(at, anchor + index * 90 * minutes)
        assert.strictEqual(latestFiring(every90m, timezone, at, 0), at)
        assert.strictEqual(latestFiring(every90m, timezone, at - 1, 0), at - 90 * minutes)
      }
    }
    assert.isUndefined(latestFiring(every90m, "UTC", anchor - 1, anchor - 89 * minutes))
    assert.strictEqual(nextFiring("@every 2h", "UTC", -1), 0)
    assert.strictEqual(shortestGapSeconds(every90m), 5_400)
  })

  it("is shown in local time without clock changes", () => {
    assert.deepStrictEqual(
      previewFirings(every90m, "Europe/Berlin", anchor, 2).map(({ clock_change, local }) => [
        local,
        clock_change
      ]),
      [
        ["2026-03-29T01:40:30+01:00", null],
        ["2026-03-29T04:10:30+02:00", null]
      ]
    )
  })

  it("is visited as it fires", () => {
    const visited: Array<number> = []
    const from = anchor - 90 * minutes
    const to = anchor + 180 * minutes
    visitFirings(every90m, "UTC", from, to, {}, (at) => visited.push(at))
    assert.deepStrictEqual(visited, [from, anchor, anchor + 90 * minutes])
  })

  it("has no slots on excluded days or outside of its bounds", () => {
    const rule = {
      starts_at: "2026-03-29T00:00:00Z",
      ends_at: "2026-03-31T00:00:00Z",
      excluded_days: ["2026-03-29"]
    }
    const first = nextSlot(every90m, "Europe/Berlin", 0, rule)
    assert.strictEqual(new Date(first ?? 0).toISOString(), "2026-03-29T23:10:30.000Z")
    const last = latestSlot(every90m, "Europe/Berlin", Date.UTC(2027, 0), 0, rule)
    assert.strictEqual(new Date(last ?? 0).toISOString(), "2026-03-30T23:10:30.000Z")
    assert.isNull(nextSlot(every90m, "Europe/Berlin", last ?? 0, rule))
  })
})
