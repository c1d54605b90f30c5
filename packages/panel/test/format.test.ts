import { describe, expect, it } from "vitest"
import {
  formatBytes,
  formatCount,
  formatDateTime,
  formatDay,
  formatDuration,
  formatPercent,
  formatRelativeTime,
  formatShortDateTime,
  formatShortExactDateTime
} from "../src/ui/values/format.ts"

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

describe("formatted values", () => {
  it("include the year if it is not the current one", () => {
    const today = Date.parse("2026-11-22T10:15:00Z")
    expect(formatShortDateTime("2026-01-05T10:15:00Z", "UTC", today)).toBe("5 Jan, 10:15")
    expect(formatShortDateTime("2027-11-22T10:15:00Z", "UTC", today)).toBe("22 Nov 2027, 10:15")
    expect(formatDay("2025-12-31T10:15:00Z", "UTC", today)).toBe("Wed, 31 Dec 2025")
    // The displayed year depends on the time zone.
    const newYear = "2026-12-31T23:30:00Z"
    expect(formatShortExactDateTime(newYear, "UTC", today)).toBe("31 Dec, 23:30:00")
    expect(formatShortExactDateTime(newYear, "Europe/Berlin", today)).toBe("1 Jan 2027, 00:30:00")
  })

  it.each([
    [0, "now"],
    [-1_400, "now"],
    [45 * second, "in 45 s"],
    [-89 * second, "89 s ago"],
    [4 * minute, "in 4 min"],
    [-3 * hour, "3 h ago"],
    [2 * day, "in 2 days"],
    [-400 * day, "13 months ago"],
    [1_000 * day, "in 3 years"]
  ])("%i ms from now is %s", (distance, text) => {
    expect(formatRelativeTime(1e12 + distance, 1e12)).toBe(text)
  })

  it.each([
    [0, "0 ms"],
    [245.4, "245 ms"],
    [1_234, "1.2 s"],
    [59_400, "59 s"],
    [123_000, "2 min 3 s"],
    [120_000, "2 min"],
    [4 * hour + 5 * minute, "4 h 5 min"],
    [3 * day, "3 d"]
  ])("%d ms take %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it.each([
    [1, "100%"],
    [0.99999, "99.99%"],
    [0.857, "85.7%"],
    [0, "0%"]
  ])("a share of %d is %s, never rounded up to all", (share, text) => {
    expect(formatPercent(share)).toBe(text)
  })

  it("numbers are short", () => {
    expect([formatCount(9_999), formatCount(12_345), formatCount(1_234_567)]).toEqual([
      "9,999",
      "12.3k",
      "1.2m"
    ])
    expect([formatBytes(999), formatBytes(12_345), formatBytes(2_500_000)]).toEqual([
      "999 B",
      "12 kB",
      "2.5 MB"
    ])
  })

  it("a time is shown in the requested zone", () => {
    const at = "2026-11-22T23:30:00.000Z"
    expect(formatDateTime(at, "UTC")).toBe("Sun 22 Nov 2026, 23:30:00".replace("Sun ", "Sun, "))
    expect(formatDateTime(at, "Asia/Tokyo")).toContain("23 Nov 2026")
    expect(formatShortExactDateTime(at, "UTC")).toBe("22 Nov, 23:30:00")
  })
})
