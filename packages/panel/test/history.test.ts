import { describe, expect, it } from "vitest"
import {
  dailyHistory,
  latestOfNowAndIncidents,
  oldestResultOf,
  uptimeFraction,
  monitoringStartOf
} from "../src/monitors/history.ts"

const hourMs = 3_600_000
const start = Date.parse("2026-11-20T12:00:00.000Z")
const at = (hours: number) => new Date(start + hours * hourMs).toISOString()
const down = (from: number, to: number | null) => ({
  opened_at: at(from),
  closed_at: to === null ? null : at(to)
})
const monitor = { created_at: at(0), last_change_at: at(2), status: "up" } as const
const none = { at: undefined, isFirst: false }

describe("the history of a monitor", () => {
  it("begins with the first result, not with its creation", () => {
    const events = [
      { at: at(3), status: "up" },
      { at: at(2), status: "up" },
      { at: at(1), status: "new" }
    ] as const
    const from = start + 2 * hourMs
    expect(oldestResultOf(events, true)).toEqual({ at: at(2), isFirst: true })
    expect(monitoringStartOf(monitor, [], oldestResultOf(events, true))).toEqual({
      from,
      since: from
    })
    expect(monitoringStartOf(monitor, [], none)).toEqual({ from, since: start })
  })

  it("shows a monitor that was never up as down", () => {
    const incidents = [down(1, null)]
    const failed = { ...monitor, last_change_at: at(1), status: "down" } as const
    const watched = monitoringStartOf(failed, incidents, { at: at(1), isFirst: true })
    expect(uptimeFraction(incidents, watched?.from ?? 0, start + 2 * hourMs)).toBe(0)
  })

  it("shows nothing for a monitor that was paused before its first result", () => {
    expect(
      monitoringStartOf({ ...monitor, status: "paused" }, [], oldestResultOf([], true))
    ).toBeUndefined()
  })

  it("counts an incident that began after the last tick of the clock", () => {
    const incidents = [down(2, null)]
    const now = latestOfNowAndIncidents(incidents, start + 1.99 * hourMs)
    expect(uptimeFraction(incidents, start, now)).toBeLessThan(1)
  })

  it("distinguishes known days from days without an incident", () => {
    const watched = { since: start - 48 * hourMs, from: start - 24 * hourMs }
    const days = dailyHistory([], watched, start, 4)
    expect(days.map(({ known }) => known)).toEqual([
      "not monitored",
      "no incident",
      "watched",
      "watched"
    ])
  })
})
