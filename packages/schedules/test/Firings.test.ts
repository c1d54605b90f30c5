import { assert, describe, it } from "@effect/vitest"
import {
  type DstOptions,
  latestFiring,
  nextFiring,
  previewFirings
} from "@scheduling/schedules/Firings"

const lines = (
  expression: string,
  zone: string,
  from: string,
  count: number,
  options?: DstOptions
): ReadonlyArray<string> =>
  previewFirings(expression, zone, new Date(from), count, options).map((firing) =>
    [firing.local, firing.clock_change ?? ""].join(" ").trim()
  )

describe("a preview", () => {
  it("moves a time that clocks skip to the end of the gap", () => {
    assert.deepStrictEqual(lines("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
      "2026-03-29T03:00:00+02:00 moved",
      "2026-03-30T02:30:00+02:00"
    ])
    assert.deepStrictEqual(lines("0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
      "2026-03-29T03:00:00+02:00 moved",
      "2026-03-30T02:00:00+02:00"
    ])
    assert.deepStrictEqual(lines("*/15 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
      "2026-03-29T03:00:00+02:00 moved",
      "2026-03-30T02:00:00+02:00"
    ])
    assert.deepStrictEqual(lines("0 0 * * FRI", "Africa/Cairo", "2026-04-23T12:00:00Z", 2), [
      "2026-04-24T01:00:00+03:00 moved",
      "2026-05-01T00:00:00+03:00"
    ])
    assert.deepStrictEqual(lines("10 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", 1), [
      "2026-10-04T02:30:00+11:00 moved"
    ])
  })

  it("continues a schedule of every hour through a gap", () => {
    assert.deepStrictEqual(lines("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 2), [
      "2026-03-29T01:30:00+01:00",
      "2026-03-29T03:30:00+02:00"
    ])
  })

  it("shows seconds, which follow their minutes through clock changes", () => {
    assert.deepStrictEqual(lines("*/20 * * * * *", "Europe/Berlin", "2026-03-29T00:59:30Z", 3), [
      "2026-03-29T01:59:40+01:00",
      "2026-03-29T03:00:00+02:00",
      "2026-03-29T03:00:20+02:00"
    ])
    assert.deepStrictEqual(lines("*/20 30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
      "2026-03-29T03:00:00+02:00 moved",
      "2026-03-30T02:30:00+02:00"
    ])
    assert.deepStrictEqual(lines("*/30 30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 3), [
      "2026-10-25T02:30:00+02:00",
      "2026-10-25T02:30:30+02:00",
      "2026-10-25T02:30:00+01:00 dropped",
      "2026-10-25T02:30:30+01:00 dropped",
      "2026-10-26T02:30:00+01:00"
    ])
    assert.deepStrictEqual(lines("50 59 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", 2), [
      "2026-10-25T02:59:50+02:00",
      "2026-10-25T02:59:50+01:00 doubled"
    ])
  })

  it("lists a repeated time that is dropped and does not count it", () => {
    assert.deepStrictEqual(lines("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2), [
      "2026-10-25T02:30:00+02:00",
      "2026-10-25T02:30:00+01:00 dropped",
      "2026-10-26T02:30:00+01:00"
    ])
  })

  it("marks the second of two firings of one local time", () => {
    const both = { dst_overlap: "both" } as const
    const from = "2026-10-24T12:00:00Z"
    assert.deepStrictEqual(lines("30 2 * * *", "Europe/Berlin", from, 2, both), [
      "2026-10-25T02:30:00+02:00",
      "2026-10-25T02:30:00+01:00 doubled"
    ])
    assert.deepStrictEqual(lines("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3), [
      "2026-10-25T02:00:00+02:00",
      "2026-10-25T02:00:00+01:00 doubled",
      "2026-10-25T03:00:00+01:00"
    ])
  })

  it("shows offsets west of Greenwich and of half hours", () => {
    assert.deepStrictEqual(lines("0 0 * * *", "America/St_Johns", "2026-01-01T12:00:00Z", 1), [
      "2026-01-02T00:00:00-03:30"
    ])
  })

  it("knows that 2000 had a leap day and that 2100 has none", () => {
    assert.deepStrictEqual(lines("0 0 29 2 *", "UTC", "1999-01-01T00:00:00Z", 1), [
      "2000-02-29T00:00:00+00:00"
    ])
    assert.deepStrictEqual(lines("0 0 29 2 *", "UTC", "2095-01-01T00:00:00Z", 2), [
      "2096-02-29T00:00:00+00:00",
      "2104-02-29T00:00:00+00:00"
    ])
  })
})

describe("a special day of the month", () => {
  it.each([
    ["L", "*", "2026-02-28 2026-03-31 2026-04-30 2026-05-31"],
    ["L-3", "*", "2026-02-25 2026-03-28 2026-04-27 2026-05-28"],
    ["LW", "*", "2026-02-27 2026-03-31 2026-04-30 2026-05-29"],
    ["15W", "*", "2026-02-16 2026-03-16 2026-04-15 2026-05-15"],
    ["1W", "*", "2026-02-02 2026-03-02 2026-04-01 2026-05-01"],
    ["31W", "*", "2026-03-31 2026-05-29 2026-07-31 2026-08-31"],
    ["*", "FRI#2", "2026-02-13 2026-03-13 2026-04-10 2026-05-08"],
    ["*", "sun#5", "2026-03-29 2026-05-31 2026-08-30 2026-11-29"],
    ["*", "5L", "2026-02-27 2026-03-27 2026-04-24 2026-05-29"],
    ["1,L", "*", "2026-02-01 2026-02-28 2026-03-01 2026-03-31"],
    ["L", "MON#1", "2026-02-02 2026-02-28 2026-03-02 2026-03-31"]
  ])("%s with day of week %s", (date, weekday, expected) => {
    const firings = lines(`0 0 ${date} * ${weekday}`, "UTC", "2026-01-31T12:00:00Z", 4)
    assert.strictEqual(firings.map((line) => line.slice(0, 10)).join(" "), expected)
  })
})

describe("seconds", () => {
  const zone = "Europe/Berlin"
  const from = Date.UTC(2026, 9, 24, 23, 30)
  const to = from + 2 * 3_600_000
  // The clocks go back at 01:00 UTC, so one hour of local time occurs twice.
  const wall = (at: number) => new Date(at + (at < Date.UTC(2026, 9, 25, 1) ? 2 : 1) * 3_600_000)
  const firingsOf = (text: string) => {
    const firings: Array<number> = []
    const schedule = text
    for (let at = from - 1; ;) {
      at = nextFiring(schedule, zone, at)
      if (at >= to) return firings
      firings.push(at)
    }
  }

  it("are the same as in a walk through every second", () => {
    const expected: Array<number> = []
    for (let at = from; at < to; at += 1_000) {
      if (wall(at).getUTCSeconds() % 12 === 5 && wall(at).getUTCMinutes() % 3 === 0)
        expected.push(at)
    }
    assert.deepStrictEqual(firingsOf("5/12 */3 * * * *"), expected)
  })

  it("are found backwards as well", () => {
    const schedule = "*/12 */7 * * * *"
    const firings = firingsOf(schedule)
    for (let at = from + 60_000; at < to; at += 7_300) {
      const latest = latestFiring(schedule, zone, at, from)
      assert.strictEqual(
        latest,
        firings.findLast((firing) => firing <= at)
      )
    }
  })
})

describe("the next firing", () => {
  it("comes strictly after a moment given as a date or in milliseconds", () => {
    const schedule = "0 9 * * *"
    const zone = "UTC"
    const nine = Date.UTC(2026, 0, 1, 9)
    assert.strictEqual(nextFiring(schedule, zone, nine - 1), nine)
    assert.strictEqual(nextFiring(schedule, zone, nine - 0.5), nine)
    assert.strictEqual(nextFiring(schedule, zone, new Date(nine)), nine + 86_400_000)
  })

  it("rejects an invalid time", () => {
    assert.throws(() => nextFiring("0 9 * * *", "UTC", Number.NaN), RangeError)
  })

  it("rejects an invalid schedule with the reason", () => {
    const refused = () => nextFiring("60 25 * * *", "UTC", 0)
    assert.throws(refused, RangeError, 'minute: "60" is outside 0-59, hour: "25" is outside 0-23')
  })

  it("finds both times of a repeated hour on a yearly date", () => {
    const schedule = "30 2 25 10 *"
    const zone = "Europe/Berlin"
    const afterFirst = Date.UTC(2026, 9, 25, 0, 50)
    const second = Date.UTC(2026, 9, 25, 1, 30)
    const both = { dst_overlap: "both" } as const
    assert.strictEqual(nextFiring(schedule, zone, afterFirst, both), second)
  })
})
