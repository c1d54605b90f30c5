import type { ExecutionBucket, Forecast } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import { upcomingBars, pastBars, hoursPerBar } from "../src/overview/bars.ts"

const hourMs = 3_600_000
const at = (hour: number) => new Date(hour * hourMs).toISOString()

/** Buckets in which hour `n` has `n` successful runs and one failed run. */
const buckets = Array.from({ length: 26 }, (_, hour) => ({
  start: at(hour),
  counts: { succeeded: hour, failed: 1 }
})) as unknown as ReadonlyArray<ExecutionBucket>

describe("the bars of the overview", () => {
  it.each([
    [2_000, 1],
    [1_185, 1],
    [1_184, 2],
    [600, 3],
    [324, 4],
    [320, 6],
    [0, 8]
  ])("in %d pixels stand for %d hours", (width, hours) => {
    expect(hoursPerBar(width)).toBe(hours)
  })

  it("contain each of the last 25 hours once, and the latest hour completely", () => {
    for (const hours of [1, 2, 3, 4, 6, 8]) {
      const bars = pastBars(buckets, hours, 26 * hourMs)
      expect(bars[0]?.start).toBe(hourMs)
      expect(bars.at(-1)).toMatchObject({ start: (26 - hours) * hourMs, end: 26 * hourMs })
      expect(bars.reduce((sum, { failed }) => sum + failed, 0)).toBe(25)
      expect(bars.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe((25 * 26) / 2)
      for (const [index, bar] of bars.slice(1).entries()) expect(bar.start).toBe(bars[index]?.end)
    }
    expect(pastBars([], 2, 0)).toEqual([])
  })

  it("show the runs, collisions and tasks of the next 24 hours", () => {
    const forecast = {
      from: at(0),
      to: at(25),
      minutes: [
        { at: at(0), runs: 1 },
        { at: at(1), runs: 4 },
        { at: at(3), runs: 2 },
        { at: at(4), runs: 2 },
        { at: at(24), runs: 5 }
      ],
      busiest: [
        { at: at(1), runs: 4, tasks: [{ name: "a" }, { name: null }, { name: "a" }] },
        { at: at(24), runs: 5, tasks: [{ name: "later" }] }
      ]
    } as unknown as Forecast
    const bars = upcomingBars(forecast, 2, 0)
    expect(bars).toHaveLength(12)
    expect(bars[0]).toEqual({
      start: 0,
      end: 2 * hourMs,
      runs: 5,
      colliding: 4,
      names: ["a"]
    })
    // Equally busy minutes look the same, even if they are not among the busiest.
    expect(bars[1]).toMatchObject({ runs: 2, colliding: 2, names: [] })
    expect(bars[2]).toMatchObject({ runs: 2, colliding: 2, names: [] })
    expect(bars.slice(3).every(({ runs }) => runs === 0)).toBe(true)
  })

  it("of the past end now, and those of the future begin now", () => {
    const now = 25.5 * hourMs
    const forecast = {
      from: new Date(now).toISOString(),
      to: new Date(now + 24 * hourMs).toISOString(),
      minutes: [],
      busiest: []
    } as unknown as Forecast
    expect(pastBars(buckets, 2, now).at(-1)).toMatchObject({ start: 24 * hourMs, end: now })
    expect(upcomingBars(forecast, 2, now)[0]).toMatchObject({ start: now, end: 27 * hourMs })
  })
})
