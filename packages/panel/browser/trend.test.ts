import type { ExecutionBucket, ExecutionStats } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import { metrics, trendOf, valueOfPreviousDays } from "../src/overview/trend.ts"
import { skipReason, usePanel } from "./support/panel.ts"

const hourMs = 3_600_000

const bucketAt = (start: number, succeeded: number, failed: number, p50: number) => ({
  start: new Date(start).toISOString(),
  counts: { queued: 0, running: 0, succeeded, failed, cancelled: 0, skipped: 0 },
  success_rate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
  duration_ms: succeeded + failed === 0 ? null : { p50, p95: p50, p99: p50 },
  lateness_ms: null
})

describe("the trend of a measure", () => {
  const today = Date.parse("2026-01-31T00:00:00Z")
  const measure = (name: string) => {
    const found = metrics.find((one) => one.name === name)
    if (found === undefined) throw new Error(`No measure ${name}`)
    return found
  }
  // Only three days have runs. They start at 03:00 and take 100, 200 and 900 ms.
  const before: ReadonlyArray<ExecutionBucket> = Array.from({ length: 168 }, (_, index) => {
    const p50 = { 27: 100, 51: 200, 75: 900 }[index]
    const runs = p50 === undefined ? 0 : 4
    return bucketAt(today + (index - 168) * hourMs, runs, 0, p50 ?? 0)
  })

  it("compares an hour with the median of the same hour of the days before", () => {
    const hours = [
      bucketAt(today + 3 * hourMs, 1, 3, 800),
      bucketAt(today + 4 * hourMs, 1, 0, 50),
      bucketAt(today + 5 * hourMs, 0, 0, 0)
    ]
    expect(
      trendOf(measure("Median duration"), hours, before).map(({ usual, value }) => [value, usual])
    ).toEqual([
      [800, 200],
      [50, null],
      [null, null]
    ])
    expect(trendOf(measure("Success rate"), hours, before)[0]).toMatchObject({
      value: 0.25,
      usual: 1
    })
  })

  it("compares the runs with those of a day that had any", () => {
    const totals = bucketAt(today, 12, 0, 200)
    expect(valueOfPreviousDays(measure("Runs"), totals, before)).toBe(4)
    expect(valueOfPreviousDays(measure("Success rate"), totals, before)).toBe(1)
    expect(valueOfPreviousDays(measure("Runs"), bucketAt(today, 0, 0, 0), [])).toBeNull()
  })

  it("marks what became clearly worse", () => {
    expect(measure("Success rate").isWorse(0.9, 1)).toBe(true)
    expect(measure("Success rate").isWorse(0.995, 1)).toBe(false)
    expect(measure("Median duration").isWorse(2_000, 1_000)).toBe(true)
    expect(measure("Median duration").isWorse(30, 10)).toBe(false)
  })
})

describe.skipIf(skipReason !== undefined)("the trend of the overview", () => {
  const panel = usePanel()

  it("shows the last 24 hours beside the days before", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    await person.client.cron.runAndWait(id)
    const overview = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(overview)
    await page.getByRole("heading", { name: "Charts" }).click()
    const section = page.getByRole("group", { name: "Last 24 hours" })
    await section.getByText("No runs a week ago").waitFor()
    const rates = section.getByRole("listbox", { name: "Success rate per hour, at most 100%" })
    await rates.getByRole("option", { name: /: 100%$/ }).waitFor()
    await section.getByText("0%", { exact: true }).waitFor()

    // A new workspace has no history, so the test provides statistics for slower days.
    await page.route(/\/executions\/stats\?.*to=/, async (route) => {
      const response = await route.fetch()
      const stats: ExecutionStats = await response.json()
      const buckets = stats.buckets.map(({ start }) => bucketAt(Date.parse(start), 2, 2, 4_000))
      await route.fulfill({
        json: { ...stats, totals: bucketAt(0, 336, 336, 4_000), buckets }
      })
    })
    await page.goto(overview)
    await page.getByRole("heading", { name: "Charts" }).click()
    await section.getByText("Same hour last week").waitFor()
    await section.getByText("50.0% in the 7 days before").waitFor()
    await section.getByText("96 a day in the 7 days before").waitFor()
    await section.getByText("4.0 s in the 7 days before").waitFor()
    const hours = rates.getByRole("option")
    const [hourBefore, lastHour] = [hours.nth(-2), hours.last()]
    await expect.poll(() => lastHour.getAttribute("aria-label")).toMatch(/: 100%, usually 50\.0%$/)
    // The values of the hour that is read are shown above the chart.
    const shown = section.getByText(/ to \d\d:\d\d$/)
    expect(await shown.count()).toBe(0)
    await lastHour.focus()
    await page.keyboard.press("ArrowLeft")
    expect(await hourBefore.evaluate((option) => option === document.activeElement)).toBe(true)
    const before = ": no runs, usually 50.0%"
    expect(await hourBefore.getAttribute("aria-label")).toBe((await shown.textContent()) + before)
    await page.keyboard.press("Escape")
    await shown.waitFor({ state: "detached" })
    await lastHour.hover()
    expect(await lastHour.getAttribute("aria-label")).toContain(
      `${await shown.textContent()}: 100%`
    )
    await page.mouse.move(0, 0)
    await shown.waitFor({ state: "detached" })
    await section.getByText("0 ms").first().waitFor()
    const excess = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth
    )
    expect(excess).toBeLessThanOrEqual(0)
    expect(problems).toEqual([])
  })
})
