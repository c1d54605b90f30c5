import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("the rows of lists", () => {
  const panel = usePanel()

  it("are low with one line, or high by choice, which is remembered", async () => {
    const { page, person, problems } = await panel.openAs(undefined, {
      viewport: { width: 1440, height: 900 }
    })
    const url = `${panel.url()}/v1/echo`
    const schedule = "0 3 * * *"
    await person.client.cron.create({ name: "Nightly report", schedule, url })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    const row = page.getByRole("row", { name: /Nightly report/ })
    await row.waitFor()
    const heightOf = async () => (await row.boundingBox())?.height
    const topOf = async (text: string) =>
      (await row.getByText(text).first().boundingBox())?.y ?? Number.NaN
    expect(await heightOf()).toBe(40)
    expect(Math.abs((await topOf("Nightly report")) - (await topOf("POST")))).toBeLessThan(8)

    await page.getByRole("button", { name: "Your account" }).click()
    await page.getByRole("menuitemcheckbox", { name: "High rows in lists" }).click()
    await expect.poll(heightOf).toBe(56)
    expect((await topOf("POST")) - (await topOf("Nightly report"))).toBeGreaterThan(12)
    await page.reload()
    await row.waitFor()
    expect(await heightOf()).toBe(56)

    await page.getByRole("button", { name: "Your account" }).click()
    await page.getByRole("menuitemcheckbox", { name: "High rows in lists" }).click()
    await expect.poll(heightOf).toBe(40)
    // A tablet has room for the text only in tall rows.
    await page.setViewportSize({ width: 800, height: 900 })
    await expect.poll(heightOf).toBe(56)
    expect(problems).toEqual([])
  })
})
